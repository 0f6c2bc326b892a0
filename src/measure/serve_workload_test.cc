#include "measure/serve_workload.h"

#include <algorithm>
#include <set>

#include "gtest/gtest.h"

namespace vivace {
namespace {

TEST(WorkloadTest, NamesAreKnownOrRefused) {
  EXPECT_EQ(WorkloadsOf({})->size(), 8U);
  const auto two = WorkloadsOf({"rag", "chat-short"});
  ASSERT_TRUE(two.has_value());
  EXPECT_EQ(two->front().kind, WorkloadKind::kRag);
  const auto none = WorkloadsOf({"poetry"});
  ASSERT_FALSE(none.has_value());
  EXPECT_NE(none.error().message.find("\"poetry\" is not known, there are chat-short, "),
            std::string::npos);
}

TEST(WorkloadTest, TextsAreRepeatableAndNew) {
  for (const Workload& workload : AllWorkloads()) {
    std::set<std::string> texts;
    for (int round = -1; round < 5; ++round) {
      for (std::size_t client = 0; client < 4; ++client) {
        const ConversationSeed seed = {.run = 7, .round = round, .client = client};
        const Conversation chat = MakeConversation(workload.kind, seed);
        EXPECT_EQ(chat.turns, MakeConversation(workload.kind, seed).turns);
        texts.insert(chat.turns.front());
        // It differs from the others within its first words.
        texts.insert(chat.turns.front().substr(0, 20));
      }
    }
    EXPECT_EQ(texts.size(), 48U) << workload.name;
    EXPECT_NE(MakeConversation(workload.kind, {.run = 7}).turns,
              MakeConversation(workload.kind, {.run = 8}).turns);
  }
}

TEST(WorkloadTest, ShapesAreAsNamed) {
  EXPECT_EQ(MakeConversation(WorkloadKind::kChatMultiTurn, {}).turns.size(), 4U);
  const std::string text = MakeConversation(WorkloadKind::kLongPrompt, {}).turns.front();
  const auto words = std::count(text.begin(), text.end(), ' ');
  EXPECT_GT(words, 550);
  EXPECT_LT(words, 600);
  // One system prompt for everybody, and another one in the next run.
  const auto system = [](std::uint64_t run, int round) {
    return MakeConversation(WorkloadKind::kSharedSystem, {.run = run, .round = round}).system;
  };
  EXPECT_EQ(system(1, 0), system(1, 5));
  EXPECT_NE(system(1, 0), system(2, 0));
}

}  // namespace
}  // namespace vivace
