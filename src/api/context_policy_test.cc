#include "api/context_policy.h"

#include "gtest/gtest.h"

namespace vivace {
namespace {

using Kind = ContextPolicy::Kind;

TEST(ContextPolicyTest, NamesAreRead) {
  EXPECT_EQ(ParseContextPolicy("error")->kind, Kind::kError);
  EXPECT_EQ(ParseContextPolicy("shift")->kind, Kind::kShift);
  const auto keep = ParseContextPolicy("keep-system-last-12");
  ASSERT_TRUE(keep.has_value());
  EXPECT_EQ(keep->kind, Kind::kKeepLast);
  EXPECT_EQ(keep->last, 12);
}

TEST(ContextPolicyTest, OthersAreNot) {
  for (const char* text :
       {"", "Error", "keep-system-last-", "keep-system-last-0", "keep-system-last--1",
        "keep-system-last-10001", "keep-system-last-5x", "keep-system-last-99999999999999999999"}) {
    EXPECT_FALSE(ParseContextPolicy(text).has_value()) << text;
  }
}

TEST(KeepLastTest, KeepsTheSystemAndTheLast) {
  ChatRequest chat;
  for (const char* role : {"system", "user", "assistant", "system", "user", "assistant", "user"}) {
    chat.messages.push_back({.role = role, .content = std::to_string(chat.messages.size())});
  }
  std::string kept;
  for (const Message& message : KeepLast(chat, 2).messages) kept += message.content;
  EXPECT_EQ(kept, "0356");
  EXPECT_EQ(KeepLast(chat, 100).messages.size(), chat.messages.size());
}

}  // namespace
}  // namespace vivace
