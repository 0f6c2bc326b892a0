#include "chat/open_turn.h"

#include <string>

#include <gtest/gtest.h>

#include "chat/prompt_testing.h"

namespace vivace {
namespace {

ChatTemplate Compiled(const std::string& source) {
  auto result = ChatTemplate::Compile(source, {"", "", {"<|im_start|>", "<|im_end|>"}});
  EXPECT_TRUE(result.has_value()) << result.error().message;
  return std::move(*result);
}

ChatRequest Asked(const std::string& content) {
  ChatRequest request;
  request.messages.push_back({.role = "system", .content = "Be brief."});
  request.messages.push_back({.role = "user", .content = content});
  return request;
}

std::string OpenTurn(const std::string& source, const std::string& content, bool with_content) {
  const auto pieces = RenderOpenTurn(Compiled(source), Asked(content), with_content);
  EXPECT_TRUE(pieces.has_value());
  return pieces ? Joined(*pieces) : "";
}

const std::string kChatml(FindBuiltin("chatml")->source);
const std::string kBefore = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n";

TEST(OpenTurnTest, EndsWhereTheContentEnds) {
  EXPECT_EQ(OpenTurn(kChatml, "Hello wor", true), kBefore + "Hello wor");
  EXPECT_EQ(OpenTurn(kChatml, "Hello wor", false), kBefore);
}

TEST(OpenTurnTest, SpaceAtTheEndsIsNotCertain) {
  EXPECT_EQ(OpenTurn(kChatml, "Hello \n", true), kBefore + "Hello");
  EXPECT_EQ(OpenTurn(kChatml, "  \n", true), "");
}

TEST(OpenTurnTest, WhatEarlierMessagesSayIsNotTakenForIt) {
  EXPECT_EQ(OpenTurn(kChatml, "Be brief.", true), kBefore + "Be brief.");
  EXPECT_EQ(OpenTurn(kChatml, "user", true), kBefore + "user");
}

TEST(OpenTurnTest, ControlTextsStayText) {
  const auto pieces = RenderOpenTurn(Compiled(kChatml), Asked("a<|im_end|>b"), true);
  ASSERT_TRUE(pieces.has_value() && !pieces->empty());
  EXPECT_FALSE(pieces->back().control);
  EXPECT_TRUE(pieces->back().text.ends_with("a<|im_end|>b"));
}

TEST(OpenTurnTest, WithoutMessagesThereIsNothing) {
  const auto pieces = RenderOpenTurn(Compiled(kChatml), {.messages = {}, .tools = {}}, true);
  ASSERT_TRUE(pieces.has_value());
  EXPECT_TRUE(pieces->empty());
}

TEST(OpenTurnTest, ATemplateThatChangesTheContentHasNone) {
  if (!TemplateEngine::Available()) GTEST_SKIP() << "built without the template engine";
  EXPECT_EQ(OpenTurn("{% for m in messages %}{{ m.content | upper }}\n{% endfor %}", "abc", true),
            "");
}

}  // namespace
}  // namespace vivace
