#include "chat/message.h"

#include <string>

#include <gtest/gtest.h>

namespace vivace {
namespace {

Result<std::vector<Message>> Parse(const std::string& text) {
  auto json = ParseJson(text);
  if (!json) return Failure(json.error());
  return ParseMessages(*json);
}

TEST(ParseMessages, ReadsOpenAiForm) {
  const auto messages = Parse(R"([
    {"role": "system", "content": "s"},
    {"role": "user", "name": "Ada", "content": [{"type": "text", "text": "a"}, "b",
                                                {"type": "text", "text": "c"}]},
    {"role": "assistant", "content": null, "reasoning_content": "r", "refusal": null,
     "tool_calls": [{"id": "1", "type": "function",
                     "function": {"name": "f", "arguments": "{\"z\": [1], \"a\": \"\\n\"}"}}]},
    {"role": "tool", "tool_call_id": "1", "content": "4"},
    {"role": "narrator"}])");
  ASSERT_TRUE(messages.has_value()) << messages.error().message;
  ASSERT_EQ(messages->size(), 5U);
  EXPECT_EQ(ToJson((*messages)[0]).dump(), R"({"role":"system","content":"s"})");
  EXPECT_EQ(ToJson((*messages)[1]).dump(), R"({"role":"user","content":"abc","name":"Ada"})");
  EXPECT_EQ(ToJson((*messages)[2]).dump(),
            R"({"role":"assistant","content":"","tool_calls":[{"id":"1","type":"function",)"
            R"("function":{"name":"f","arguments":{"z":[1],"a":"\n"}}}],"reasoning_content":"r"})");
  EXPECT_EQ(ToJson((*messages)[3]).dump(), R"({"role":"tool","content":"4","tool_call_id":"1"})");
  EXPECT_EQ(ToJson((*messages)[4]).dump(), R"({"role":"narrator","content":""})");
}

std::string ArgumentsOf(const std::string& arguments) {
  const auto messages = Parse(R"([{"role": "assistant", "tool_calls": [{"function": {"name": "f")" +
                              arguments + "}}]}]");
  return messages ? (*messages)[0].tool_calls[0]["function"]["arguments"].dump()
                  : messages.error().message;
}

TEST(ParseMessages, ArgumentsThatAreNoObjectStayText) {
  EXPECT_EQ(ArgumentsOf(R"(, "arguments": {"a": 1})"), R"({"a":1})");
  EXPECT_EQ(ArgumentsOf(""), "{}");
  EXPECT_EQ(ArgumentsOf(R"(, "arguments": null)"), "{}");
  EXPECT_EQ(ArgumentsOf(R"(, "arguments": "{broken")"), R"("{broken")");
  EXPECT_EQ(ArgumentsOf(R"(, "arguments": "3")"), R"("3")");
  EXPECT_EQ(ArgumentsOf(R"(, "arguments": "")"), R"("")");
}

TEST(ParseMessages, NoToolCallsIsTheSameAsAnEmptyList) {
  for (const std::string calls : {"null", "[]"}) {
    const auto messages = Parse(R"([{"role": "assistant", "tool_calls": )" + calls + "}]");
    ASSERT_TRUE(messages.has_value());
    EXPECT_FALSE(ToJson((*messages)[0]).contains("tool_calls"));
  }
}

TEST(ParseMessages, SaysWhatIsWrongAndWhere) {
  struct Case {
    std::string text;
    std::string message;
  };
  const std::vector<Case> cases = {
      {"3", "messages: expected an array, got number"},
      {"[3]", "messages[0]: expected an object, got number"},
      {R"([{"role":"user"},{}])", R"(messages[1]: needs a "role")"},
      {R"([{"role":null}])", R"(messages[0]: needs a "role")"},
      {R"([{"role":1}])", "messages[0]: role: expected a string, got number"},
      {R"([{"role":"user","content":true}])",
       "messages[0]: content: expected a string, an array of text parts or null, got boolean"},
      {R"([{"role":"user","content":[7]}])",
       "messages[0]: content: [0]: expected a text part, got number"},
      {R"([{"role":"user","content":["a",{"type":"image_url"}]}])",
       "messages[0]: content: [1]: parts of type \"image_url\" are not supported, only \"text\""},
      {R"([{"role":"user","content":[{"type":"text","text":{}}]}])",
       "messages[0]: content: [0]: text: expected a string, got object"},
      {R"([{"role":"user","name":[]}])", "messages[0]: name: expected a string, got array"},
      {R"([{"role":"tool","tool_call_id":1}])",
       "messages[0]: tool_call_id: expected a string, got number"},
      {R"([{"role":"assistant","tool_calls":{}}])",
       "messages[0]: tool_calls: expected an array, got object"},
      {R"([{"role":"assistant","tool_calls":[1]}])",
       "messages[0]: tool_calls: [0]: expected an object, got number"},
      {R"([{"role":"assistant","tool_calls":[{"function":"f"}]}])",
       R"(messages[0]: tool_calls: [0]: needs a "function" object)"},
      {R"([{"role":"assistant","tool_calls":[{"function":{"name":""}}]}])",
       R"(messages[0]: tool_calls: [0].function: needs a "name")"},
  };
  for (const Case& c : cases) {
    const auto messages = Parse(c.text);
    ASSERT_FALSE(messages.has_value()) << c.text;
    EXPECT_EQ(messages.error().message, c.message);
  }
}

TEST(ParseMessages, RefusesNestingThatRecursionCouldNotTake) {
  Json deep;
  for (int i = 0; i < 10'000; ++i) deep = Json::array({std::move(deep)});
  Json messages = Json::array({Json{{"role", "user"}, {"extra", std::move(deep)}}});
  EXPECT_EQ(ParseMessages(messages).error().message, "messages[0]: nests deeper than 64");
}

}  // namespace
}  // namespace vivace
