#include "chat/tool_prompt.h"

#include <string>

#include <gtest/gtest.h>

#include "chat/prompt_testing.h"
#include "chat/tool_calls.h"
#include "chat/tool_definitions.h"

namespace vivace {
namespace {

const std::vector<std::string> kControls = {"<|im_start|>", "<|im_end|>"};

std::string Rendered(std::string_view name, const ChatRequest& request) {
  const auto compiled =
      ChatTemplate::Compile(std::string(FindBuiltin(name)->source), {"", "", kControls});
  const auto pieces = RenderWithTools(*compiled, request);
  return pieces ? Joined(*pieces) : pieces.error().message;
}

Json Tools() {
  return *ParseTools(*ParseJson(
      R"([{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}])"));
}

Message Call() {
  return {.role = "assistant",
          .content = "I look.",
          .tool_calls = *ParseJson(R"([{"function":{"name":"f","arguments":{"x":1}}}])")};
}

TEST(ToolPrompt, FormsOfTemplates) {
  EXPECT_TRUE(KnowsTools("{% if tools %}"));
  EXPECT_FALSE(KnowsTools("{{ messages }}"));
  EXPECT_EQ(ToolFormOf("{{ tools }} <tool_call>"), ToolForm::kTagged);
  EXPECT_EQ(ToolFormOf("{{ tools }} \"parameters\""), ToolForm::kBare);
  EXPECT_EQ(ToolFormOf("{{ messages }}"), ToolForm::kTagged);
}

TEST(ToolPrompt, WithoutToolsNothingChanges) {
  const ChatRequest request = {.messages = {{.role = "user", .content = "Hi"}}, .tools = {}};
  EXPECT_EQ(Rendered("chatml", request), "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
}

TEST(ToolPrompt, ToolsAreWrittenIntoTheSystemsTurn) {
  ChatRequest request = {.messages = {{.role = "user", .content = "Hi"}}, .tools = Tools()};
  const std::string alone = Rendered("chatml", request);
  EXPECT_TRUE(alone.starts_with("<|im_start|>system\nYou can call")) << alone;
  EXPECT_NE(alone.find(R"({"name":"f","parameters":{"type":"object"}})"), std::string::npos);
  EXPECT_TRUE(alone.ends_with("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"));
  request.messages.insert(request.messages.begin(), {.role = "system", .content = "Be kind."});
  const std::string with_system = Rendered("chatml", request);
  EXPECT_TRUE(with_system.starts_with("<|im_start|>system\nBe kind.\n\nYou can call"));
}

TEST(ToolPrompt, ATemplateThatRefusesASystemsTurnGetsThemInTheFirstOne) {
  const auto compiled = ChatTemplate::Compile(
      "{% for m in messages %}{% if m.role == 'system' %}"
      "{{ raise_exception('no') }}{% endif %}"
      "{{ m.role }}: {{ m.content }}\n{% endfor %}",
      {"", "", kControls});
  if (!compiled) GTEST_SKIP() << "built without the template engine";
  const auto pieces = RenderWithTools(
      *compiled, {.messages = {{.role = "user", .content = "Hi"}}, .tools = Tools()});
  const std::string text = Joined(*pieces);
  EXPECT_TRUE(text.starts_with("user: You can call")) << text;
  EXPECT_TRUE(text.ends_with("\n\nHi\n")) << text;
}

TEST(ToolPrompt, CallsAndResultsAreWrittenAsText) {
  ChatRequest request = {.messages = {{.role = "user", .content = "Go"},
                                      Call(),
                                      {.role = "tool", .content = "one"},
                                      {.role = "tool", .content = "two"},
                                      {.role = "user", .content = "And?"}},
                         .tools = {}};
  EXPECT_EQ(Rendered("chatml", request),
            "<|im_start|>user\nGo<|im_end|>\n<|im_start|>assistant\nI look.\n<tool_call>\n"
            "{\"name\":\"f\",\"arguments\":{\"x\":1}}\n</tool_call><|im_end|>\n<|im_start|>user\n"
            "<tool_response>\none\n</tool_response>\n<tool_response>\ntwo\n</tool_response>\nAnd?"
            "<|im_end|>\n<|im_start|>assistant\n");
}

// What is shown to the model is what is read from it.
TEST(ToolPrompt, WrittenCallsAreRead) {
  const ChatRequest request = {.messages = {Call()}, .tools = {}, .add_generation_prompt = false};
  const std::string text = Rendered("plain", request);
  ToolCallParser parser(std::make_shared<const ToolCallOptions>(ToolCallOptions{.names = {"f"}}));
  ToolCallEvents events;
  parser.Push(text, events);
  parser.Finish(false, events);
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0].text, "I look.");
  EXPECT_EQ(events[2].text, R"({"x":1})");
}

TEST(ToolPrompt, WhatTheyHoldStaysText) {
  ChatRequest request = {.messages = {{.role = "user", .content = "Go"},
                                      Call(),
                                      {.role = "tool", .content = "<|im_end|>"}},
                         .tools = Tools()};
  request.tools[0]["function"]["description"] = "<|im_start|>";
  request.messages[1].tool_calls[0]["function"]["arguments"]["x"] = "<|im_end|>";
  const auto compiled =
      ChatTemplate::Compile(std::string(FindBuiltin("chatml")->source), {"", "", kControls});
  const auto pieces = RenderWithTools(*compiled, request);
  int controls = 0;
  for (const PromptPiece& piece : *pieces) controls += piece.control ? 1 : 0;
  EXPECT_EQ(controls, 4 * 2 + 1);
}

TEST(ToolPrompt, DeepToolsAreRefused) {
  ChatRequest request = {.messages = {{.role = "user", .content = "Hi"}}, .tools = Tools()};
  Json deep;
  for (int i = 0; i < 10'000; ++i) deep = Json::array({std::move(deep)});
  request.tools[0]["function"]["x"] = std::move(deep);
  EXPECT_EQ(Rendered("chatml", request), "tools: nests deeper than 64");
}

}  // namespace
}  // namespace vivace
