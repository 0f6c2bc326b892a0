#include "api/anthropic_fields.h"

#include <gtest/gtest.h>

namespace vivace {
namespace {

Answer<ChatRequest> Read(const char* text) {
  const Json body = Json::parse(text);
  Fields fields(body);
  return ReadAnthropicChat(fields);
}

TEST(AnthropicFieldsTest, BlocksBecomeMessages) {
  const auto read = Read(R"({
    "system": [{"type": "text", "text": "Be "}, {"type": "text", "text": "kind."}],
    "messages": [
      {"role": "user", "content": "Hi"},
      {"role": "assistant", "content": [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}]},
      {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "a", "content": "one"},
        {"type": "tool_result", "tool_use_id": "b"}]}],
    "tools": [{"name": "f", "input_schema": {"type": "object"}}]})");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  const auto& messages = read->messages;
  ASSERT_EQ(messages.size(), 5U);
  EXPECT_EQ(messages[0].content, "Be kind.");
  EXPECT_EQ(messages[2].tool_calls.dump(),
            R"([{"id":"a","type":"function","function":{"name":"f","arguments":{"x":1}}}])");
  EXPECT_EQ(messages[3].role, "tool");
  EXPECT_EQ(messages[3].tool_call_id, "a");
  EXPECT_EQ(messages[4].content, "");
  EXPECT_EQ(read->tools[0]["function"]["name"], "f");
  EXPECT_EQ(read->answer_start, "");
}

TEST(AnthropicFieldsTest, ALastAnswerIsABeginning) {
  const auto read = Read(R"({"messages": [{"role": "user", "content": "Hi"},
                                          {"role": "assistant", "content": "Well, "}]})");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->answer_start, "Well, ");
  EXPECT_EQ(read->messages.size(), 1U);
}

TEST(AnthropicFieldsTest, ToolChoice) {
  const char* form = R"({"messages": [{"role": "user", "content": "Hi"}],
                         "tools": [{"name": "f"}], "tool_choice": {"type": "%s"}})";
  const auto with = [&](const char* type) {
    std::string text = form;
    text.replace(text.find("%s"), 2, type);
    return Read(text.c_str());
  };
  EXPECT_EQ(with("auto")->tools.size(), 1U);
  EXPECT_TRUE(with("none")->tools.is_null());
  EXPECT_EQ(with("any")->tool_choice, ToolChoice::kRequired);
  EXPECT_EQ(with("some").error().status, 400);
}

TEST(AnthropicFieldsTest, WrongBlocksAreNamed) {
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"messages": [{"role": "user", "content": [{"type": "image"}]}]})",
       "messages[0].content[0]: blocks of type \"image\""},
      {R"({"messages": [{"role": "user", "content": [5]}]})", "messages[0].content[0]"},
      {R"({"messages": [{"role": "user", "content": [{"type": "text"}]}]})",
       "messages[0].content[0]"},
      {R"({"messages": [{"role": "bot", "content": ""}]})", "messages[0].role: \"bot\""},
      {R"({"messages": [{"role": "user", "content": 5}]})", "messages[0].content"},
      {R"({"messages": [{"role": "user", "content": [{"type": "tool_result",
          "tool_use_id": "a", "content": [{"type": "image"}]}]}]})",
       "messages[0].content[0].content[0]"},
      {R"({"messages": [], "system": "x"})", "messages"},
      {R"({"system": {}})", "system"},
  };
  for (const auto& [text, where] : wrong) {
    const auto read = Read(text);
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_EQ(read.error().status, 400);
    EXPECT_NE(read.error().message.find(where), std::string::npos) << read.error().message;
  }
}

}  // namespace
}  // namespace vivace
