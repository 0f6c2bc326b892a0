// Workloads: the kinds of requests that a server is measured with, and their texts.
//
// Every text is made from a seed and begins with words of its own, so that no cache has seen
// it, but for what a workload means to share: the turns of one chat, one system prompt for
// many. The same seed makes the same texts, on any machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace vivace {

enum class WorkloadKind : std::uint8_t {
  kChatShort,      // a short question
  kChatMultiTurn,  // four turns of one chat
  kLongPrompt,     // about 600 tokens to read, a sentence to write
  kCode,           // a function to write
  kJson,           // a JSON object to write
  kRag,            // a question about three documents
  kEdit,           // a file to write again with a small change
  kSharedSystem,   // short questions behind one system prompt of some 400 tokens
};

struct Workload {
  WorkloadKind kind;
  std::string_view name;  // as people write it: "chat-short"
  std::string_view what;  // a sentence for people
  std::int64_t max_tokens;
};

// All, in the order in which they are run.
const std::vector<Workload>& AllWorkloads();

// kBadInput with the names that there are. No names: all.
Result<std::vector<Workload>> WorkloadsOf(const std::vector<std::string>& names);

// One client's chat: what the user says, turn by turn.
struct Conversation {
  std::string system;
  std::vector<std::string> turns;
};

struct ConversationSeed {
  std::uint64_t run = 0;  // of all texts of one measurement
  int round = 0;
  std::size_t client = 0;  // within the round
};

Conversation MakeConversation(WorkloadKind kind, const ConversationSeed& seed);

}  // namespace vivace
