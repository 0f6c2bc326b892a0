#include "chat/tool_calls.h"

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "chat/json_input.h"

namespace vivace {
namespace {

using Kind = ToolCallEvent::Kind;

// "text" as it is, calls as [name arguments], with ~ instead of ] where one does not end.
std::string Shown(const ToolCallEvents& events) {
  std::string shown;
  bool open = false;
  for (const ToolCallEvent& event : events) {
    if (event.kind == Kind::kBegin) shown += (open ? "~[" : "[") + event.text + " ";
    if (event.kind == Kind::kText || event.kind == Kind::kArguments) shown += event.text;
    if (event.kind == Kind::kEnd) shown += "]";
    open = event.kind == Kind::kBegin || (open && event.kind == Kind::kArguments);
  }
  return open ? shown + "~" : shown;
}

std::shared_ptr<const ToolCallOptions> Options(bool parallel = true) {
  return std::make_shared<const ToolCallOptions>(
      ToolCallOptions{.names = {"f", "get_weather", "a\"b"}, .parallel = parallel});
}

std::string Parsed(const std::vector<std::string_view>& pieces, bool cut = false,
                   bool parallel = true) {
  ToolCallParser parser(Options(parallel));
  ToolCallEvents events;
  for (const std::string_view piece : pieces) parser.Push(piece, events);
  parser.Finish(cut, events);
  return Shown(events);
}

// Of all ways to cut the text in two, and of single characters: the same.
std::string Parse(std::string_view text, bool cut = false, bool parallel = true) {
  const std::string whole = Parsed({text}, cut, parallel);
  std::vector<std::string_view> letters;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    EXPECT_EQ(Parsed({text.substr(0, at), text.substr(at)}, cut, parallel), whole) << text;
    if (at < text.size()) letters.push_back(text.substr(at, 1));
  }
  EXPECT_EQ(Parsed(letters, cut, parallel), whole) << text;
  return whole;
}

TEST(ToolCalls, InTags) {
  EXPECT_EQ(Parse("<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": [1, {}]}}\n</tool_call>"),
            R"([f {"x": [1, {}]}])");
  EXPECT_EQ(Parse("<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>"), "[f {}]");
  EXPECT_EQ(Parse("\n\n<tool_call>{\"name\":\"f\",\"parameters\":{}}</tool_call>\n"), "[f {}]");
  EXPECT_EQ(Parse("I look.\n\n<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>"),
            "I look.[f {}]");
  EXPECT_EQ(Parse(R"(<tool_call>{"name": "a\"b", "arguments": {"</tool_call>": "}"}}</tool_call>)"),
            R"([a"b {"</tool_call>": "}"}])");
}

TEST(ToolCalls, Several) {
  const std::string one = "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>";
  const std::string two = "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"a\": 1}}";
  EXPECT_EQ(Parse(one + "\n" + two + "\n</tool_call>"), R"([f {}][get_weather {"a": 1}])");
  EXPECT_EQ(Parse(one + two + "\n" + two.substr(12) + "</tool_call>\nDone."),
            R"([f {}][get_weather {"a": 1}][get_weather {"a": 1}]Done.)");
  EXPECT_EQ(Parse(one + " and then " + one), "[f {}]and then[f {}]");
  EXPECT_EQ(Parse(one + "\n" + two + "\n</tool_call>", false, false), "[f {}]");
}

TEST(ToolCalls, AloneAtTheStart) {
  EXPECT_EQ(Parse(R"({"name": "f", "arguments": {"x": "y"}})"), R"([f {"x": "y"}])");
  EXPECT_EQ(Parse(R"(  {"type": "function", "name": "f", "parameters": {}})"), "[f {}]");
  EXPECT_EQ(Parse(R"({"name": "f", "parameters": {}}; {"name": "f", "parameters": {"x": 1}})"),
            R"([f {}][f {"x": 1}])");
  EXPECT_EQ(Parse(R"([{"name": "f", "arguments": {}}, {"name": "f", "arguments": {"x": 1}}])"),
            R"([f {}][f {"x": 1}])");
  EXPECT_EQ(Parse("```json\n{\n  \"name\": \"f\",\n  \"arguments\": {}\n}\n```"), "[f {}]");
  EXPECT_EQ(Parse("```\n<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>\n```\n"),
            "[f {}]");
  EXPECT_EQ(Parse("```json\n{\"name\": \"f\", \"arguments\": {}}\n```\n\n```json\n{\"name\": "
                  "\"f\", \"arguments\": {\"x\": 1}}\n```"),
            R"([f {}][f {"x": 1}])");
}

TEST(ToolCalls, InAnotherOrderOrForm) {
  EXPECT_EQ(Parse(R"({"arguments": {"x": 1}, "name": "f"})"), R"([f {"x":1}])");
  EXPECT_EQ(Parse(R"({"name": "f", "arguments": "{\"x\": \"é\"}"})"), R"([f {"x":"é"}])");
  EXPECT_EQ(Parse(R"({"type": "function", "function": {"name": "f", "arguments": {}}})"), "[f {}]");
  EXPECT_EQ(Parse(R"(<tool_call>{"name": "f"}</tool_call>)"), "[f {}]");
  EXPECT_EQ(Parse(R"(<tool_call>{"name": "f", "arguments": null}</tool_call>)"), "[f {}]");
  EXPECT_EQ(Parse(R"(<tool_call>{"name": "f", "arguments": {}, "id": 5}</tool_call>)"), "[f {}]");
}

TEST(ToolCalls, WhatIsNoneStaysText) {
  for (const std::string text :
       {"",
        "  \n",
        "Hello <b>world</b>\n",
        "a < b",
        "<",
        "<tool",
        "<tool_call>",
        "<tool_call> \n",
        "<tool_call>no</tool_call>",
        "<tool_call>{}</tool_call>",
        "{",
        "{}",
        "{\"a\": 1}\n",
        R"({"name": "Bob", "arguments": {}})",
        R"({"name": "f"})",
        R"({"name": "f", "age": 5})",
        R"(<tool_call>{"name": "unknown", "arguments": {}}</tool_call>)",
        R"(<tool_call>{"name": "f", "arguments": [1]}</tool_call>)",
        R"(<tool_call>{"name": "f", "arguments": )",
        "[1] See below.",
        "[",
        "[{\"name\": \"x\"}]",
        "```json\n{\"a\": 1}\n```\n",
        "```python\nprint(1)\n```",
        "``",
        "```json",
        "`{`",
        R"(Use {"name": "f", "arguments": {}} for that.)",
        "Like this:\n```json\n{\"name\": \"f\", \"arguments\": {}}\n```",
        "Like this:\n```\n<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>\n```\nSo.",
        "Write `<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>`.",
        "```json\n[]\n```\n<tool_cal l>"}) {
    EXPECT_EQ(Parse(text), text);
  }
  EXPECT_EQ(Parse("```py\nx\n```\n<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>"),
            "```py\nx\n```[f {}]");
}

TEST(ToolCalls, AreToldAsTheyCome) {
  ToolCallParser parser(Options());
  const auto push = [&](std::string_view text) {
    ToolCallEvents events;
    parser.Push(text, events);
    std::string told;
    for (const ToolCallEvent& event : events) {
      told += "TBAE"[static_cast<std::size_t>(event.kind)] + event.text + "|";
    }
    return told;
  };
  EXPECT_EQ(push("Well, "), "TWell,|");
  EXPECT_EQ(push("a <"), "T a|");
  EXPECT_EQ(push("b"), "T <b|");
  EXPECT_EQ(push(" <tool_call>\n{\"name\": \"f\", \"argu"), "");
  EXPECT_EQ(push("ments\": {"), "Bf|A{|");
  EXPECT_EQ(push("\"x\": \"la"), "A\"x\": \"la|");
  EXPECT_EQ(push("la\"}"), "Ala\"}|E|");
  EXPECT_EQ(push("}\n</tool_call>\n"), "");
}

TEST(ToolCalls, PlainTextIsNotHeldBack) {
  const std::string text = "One <two> {three} [four] `five` and ```six``` done.";
  ToolCallParser parser(Options());
  std::string given;
  for (std::size_t i = 0; i < text.size(); ++i) {
    ToolCallEvents events;
    parser.Push({&text[i], 1}, events);
    for (const ToolCallEvent& event : events) given += event.text;
    EXPECT_GE(given.size() + 4, i + 1) << given;
  }
}

TEST(ToolCalls, ThatAreCutDoNotEnd) {
  EXPECT_EQ(Parse(R"(<tool_call>{"name": "f", "arguments": {"x": "la)", true), R"([f {"x": "la~)");
  EXPECT_EQ(Parse(R"(<tool_call>{"name": "f", "arguments": {"x": 1)", true), R"([f {"x": 1~)");
  EXPECT_EQ(Parse(R"(<tool_call>{"name": "f", "arguments": {"x": 1}}</tool_c)", true),
            R"([f {"x": 1}])");
  EXPECT_EQ(Parse(R"(<tool_call>{"name": "f", "argu)", true), R"(<tool_call>{"name": "f", "argu)");
}

TEST(ToolCalls, MissingBracketsAreAdded) {
  EXPECT_EQ(Parse("<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": 1}\n</tool_call>"),
            R"([f {"x": 1}])");
  EXPECT_EQ(Parse("<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": [1</tool_call> So."),
            R"([f {"x": [1]}]So.)");
  EXPECT_EQ(Parse(R"({"name": "f", "arguments": {"x": {"y": "z")"), R"([f {"x": {"y": "z"}}])");
  EXPECT_EQ(Parse("<tool_call>{\"name\": \"f\", \"arguments\": {}}}</tool_call>"), "[f {}]");
}

TEST(ToolCalls, BrokenArgumentsStayAsTheyAre) {
  EXPECT_EQ(Parse("<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": True}}\n</tool_call>Hm."),
            R"([f {"x": True}]Hm.)");
  EXPECT_EQ(Parse("<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": 'y\"\n</tool_call>"),
            "[f {\"x\": 'y\"\n]");
  EXPECT_EQ(Parse(R"({"name": "f", "arguments": {'x': 1}})"), R"([f {'x': 1}])");
  EXPECT_EQ(Parse("```json\n{\"name\": \"f\", \"arguments\": {1\n```"), "[f {1\n]");
  // Line breaks of code that a text should have escaped are no reason to lose it.
  EXPECT_EQ(Parse("{\"name\": \"f\", \"arguments\": {\"x\": \"a\n\tb\"}}"),
            R"([f {"x": "a\n\tb"}])");
}

TEST(ToolCalls, AnyTextIsTakenInAnyPieces) {
  constexpr std::string_view kParts[] = {"<tool_call>", "</tool_call>",
                                         "{",           "}",
                                         "\"name\":",   "\"f\"",
                                         ",",           "\"arguments\":",
                                         "{}",          "\n",
                                         " ",           "```",
                                         "```json\n",   "[",
                                         "]",           "x",
                                         "`",           "<",
                                         "\"",          "\\",
                                         "1",           "\x01"};
  std::mt19937 random(7);
  int calls = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = random() % 2 == 0 ? "<tool_call>{\"name\": \"f\", \"arguments\": {" : "";
    for (auto count = random() % 12; count > 0; --count)
      text += kParts[random() % std::size(kParts)];
    const bool cut = random() % 2 == 0;
    std::vector<std::string_view> pieces;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + random() % 7;
      pieces.push_back(std::string_view(text).substr(at, size));
      at += size;
    }
    const std::string whole = Parsed({text}, cut);
    ASSERT_EQ(Parsed(pieces, cut), whole) << text;
    calls += whole.find("[f ") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(calls, 1000);
}

}  // namespace
}  // namespace vivace
