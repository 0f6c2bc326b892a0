#include "api/tool_grammar.h"

#include <string>

#include <gtest/gtest.h>

namespace vivace {
namespace {

ChatRequest Request() {
  ChatRequest chat;
  chat.tools = Json::parse(R"([{"function": {"name": "f"}},
                               {"function": {"name": "a\"b", "parameters": {"type": "object"}}}])");
  return chat;
}

TEST(ToolGrammarTest, AlternativesForEachTool) {
  const GrammarSource source = ToolGrammar(Request(), ToolForm::kTagged);
  EXPECT_EQ(source.kind, GrammarKind::kLark);
  EXPECT_EQ(
      source.text,
      R"(start: call ("\n" call)*)"
      "\ncall: call_0 | call_1\n"
      R"(call_0: "<tool_call>\n{\"name\": \"f\", \"arguments\": " @arguments_0 "}\n</tool_call>")"
      "\n"
      R"(call_1: "<tool_call>\n{\"name\": \"a\\\"b\", \"arguments\": " @arguments_1 "}\n</tool_call>")"
      "\n");
  ASSERT_EQ(source.schemas.size(), 2U);
  EXPECT_EQ(source.schemas[1].first, "arguments_1");
  EXPECT_EQ(source.schemas[1].second, R"({"type":"object"})");
}

TEST(ToolGrammarTest, OneToolOneCall) {
  ChatRequest chat = Request();
  chat.forced_tool = "f";
  chat.parallel_tool_calls = false;
  EXPECT_EQ(ToolGrammar(chat, ToolForm::kBare).text,
            "start: call\ncall: call_0\n"
            R"(call_0: "{\"name\": \"f\", \"parameters\": " @arguments_0 "}")"
            "\n");
  EXPECT_EQ(ToolGrammar(chat, ToolForm::kBare).schemas.size(), 1U);
}

TEST(ToolGrammarTest, OrAnAnswerInItsForm) {
  const std::string schema = R"({"type": "object"})";
  const GrammarSource source = ToolGrammar(Request(), ToolForm::kTagged, &schema);
  EXPECT_TRUE(
      source.text.starts_with("start: call (\"\\n\" call)* | bare_0 | bare_1 | @answer\ncall: "));
  EXPECT_EQ(source.schemas.back().first, "answer");
  EXPECT_EQ(source.schemas.back().second, schema);
}

}  // namespace
}  // namespace vivace
