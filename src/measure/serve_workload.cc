#include "measure/serve_workload.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "measure/text_maker.h"

namespace vivace {
namespace {

constexpr std::string_view kAssistant = "You are a helpful assistant.";

std::string ShortQuestion(TextMaker& make) {
  constexpr std::array<std::string_view, 6> kQuestions = {
      "What is a binary search tree?", "Why is the sky blue?",  "How does a bicycle stay up?",
      "What makes bread rise?",        "How do vaccines work?", "What is the tide?"};
  return fmt::format("{} {} Think of a {}.", make.Note(),
                     kQuestions[make.Number(kQuestions.size())], make.Word());
}

Conversation MultiTurn(TextMaker& make) {
  Conversation chat = {.system = std::string(kAssistant), .turns = {}};
  chat.turns.push_back(fmt::format("{} Tell me a short story about a {} and a {}.", make.Note(),
                                   make.Word(), make.Word()));
  chat.turns.push_back(fmt::format("Now add a {} to it.", make.Word()));
  chat.turns.push_back(fmt::format("What would the {} say about that?", make.Word()));
  chat.turns.push_back("Give it a title.");
  return chat;
}

Conversation Code(TextMaker& make) {
  return {.system = "You are a programmer. Answer with code only.",
          .turns = {fmt::format(
              "# {}\nWrite a Python function {}_{}(items) that takes a list of numbers, skips "
              "every number above {}, and returns the sum of the others. Add a docstring and "
              "three assert statements.",
              make.Note(), make.Word(), make.Word(), make.Number(1000))}};
}

Conversation JsonObject(TextMaker& make) {
  return {.system = "You answer with one JSON object and nothing else.",
          .turns = {fmt::format("{} {} Return a JSON object with the keys \"subject\" (a string), "
                                "\"count\" (the number {}) and \"tags\" (an array of two strings).",
                                make.Note(), make.Sentence(), make.Number(1000))}};
}

Conversation Rag(TextMaker& make) {
  constexpr std::size_t kDocuments = 3;
  constexpr std::size_t kWordsEach = 110;
  std::string prompt = make.Note();
  for (std::size_t number = 1; number <= kDocuments; ++number) {
    prompt += fmt::format("\n\nDocument {}:\n{}", number, make.Text(kWordsEach));
  }
  prompt += fmt::format("\n\nWhich document says most about the {}? Quote one sentence of it.",
                        make.Word());
  return {.system = "Answer only from the documents that you are given.", .turns = {prompt}};
}

Conversation Edit(TextMaker& make) {
  constexpr int kFunctions = 5;
  std::string file = fmt::format("# {}\n", make.Note());
  for (int i = 0; i < kFunctions; ++i) {
    file += fmt::format(
        "\ndef {0}_{1}(items, limit={2}):\n    total = 0\n    for item in items:\n"
        "        if item < limit:\n            total += item\n    return total\n",
        make.Word(), make.Word(), make.Number(1000));
  }
  return {.system = "You edit files. Answer with the whole file and nothing else.",
          .turns = {file + "\nRename the variable total to result everywhere."}};
}

Conversation SharedSystem(std::uint64_t run, TextMaker& make) {
  constexpr std::size_t kWords400 = 380;
  TextMaker shared(run);  // the same for every client and round
  return {.system = fmt::format("You work for the {} company. Its rules:\n{}", shared.Note(),
                                shared.Text(kWords400)),
          .turns = {ShortQuestion(make)}};
}

}  // namespace

const std::vector<Workload>& AllWorkloads() {
  static const std::vector<Workload> all = {
      {WorkloadKind::kChatShort, "chat-short", "a short question", 64},
      {WorkloadKind::kChatMultiTurn, "chat-multi-turn", "four turns of one chat", 32},
      {WorkloadKind::kLongPrompt, "long-prompt", "600 tokens to read, a sentence to write", 32},
      {WorkloadKind::kCode, "code", "a function to write", 128},
      {WorkloadKind::kJson, "json", "a JSON object to write", 64},
      {WorkloadKind::kRag, "rag", "a question about three documents", 48},
      {WorkloadKind::kEdit, "edit", "a file to write again with a small change", 160},
      {WorkloadKind::kSharedSystem, "shared-system-prompt",
       "short questions behind one long system prompt", 32},
  };
  return all;
}

Result<std::vector<Workload>> WorkloadsOf(const std::vector<std::string>& names) {
  const std::vector<Workload>& all = AllWorkloads();
  if (names.empty()) return all;
  std::vector<Workload> chosen;
  for (const std::string& name : names) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Workload& one) { return one.name == name; });
    if (found == all.end()) {
      std::vector<std::string_view> known;
      for (const Workload& one : all) known.push_back(one.name);
      return Fail(ErrorKind::kBadInput,
                  fmt::format("the workload \"{}\" is not known, there are {}", name,
                              fmt::join(known, ", ")));
    }
    chosen.push_back(*found);
  }
  return chosen;
}

Conversation MakeConversation(WorkloadKind kind, const ConversationSeed& seed) {
  // Far apart, so that neighbours have nothing in common.
  TextMaker mixer(seed.run ^ (static_cast<std::uint64_t>(kind) << 56));
  const std::uint64_t base = mixer.Number(std::uint64_t{1} << 62);
  TextMaker make(base + 1'000'003 * static_cast<std::uint64_t>(seed.round + 1) +
                 0x5851F42D4C957F2D * (seed.client + 1));
  switch (kind) {
    case WorkloadKind::kChatMultiTurn:
      return MultiTurn(make);
    case WorkloadKind::kLongPrompt:
      return {.system = std::string(kAssistant),
              .turns = {fmt::format("{} {} Summarize the note in one sentence.", make.Note(),
                                    make.Text(560))}};
    case WorkloadKind::kCode:
      return Code(make);
    case WorkloadKind::kJson:
      return JsonObject(make);
    case WorkloadKind::kRag:
      return Rag(make);
    case WorkloadKind::kEdit:
      return Edit(make);
    case WorkloadKind::kSharedSystem:
      return SharedSystem(seed.run, make);
    case WorkloadKind::kChatShort:
      break;
  }
  return {.system = std::string(kAssistant), .turns = {ShortQuestion(make)}};
}

}  // namespace vivace
