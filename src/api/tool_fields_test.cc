#include "api/tool_fields.h"

#include <string>

#include <gtest/gtest.h>

namespace vivace {
namespace {

constexpr const char* kTools =
    R"("tools": [{"function": {"name": "f"}}, {"function": {"name": "g"}}])";

Answer<ChatRequest> Read(const std::string& fields_text) {
  const Json body = Json::parse("{" + fields_text + "}");
  Fields fields(body);
  ChatRequest chat;
  if (auto read = ReadTools(fields, chat); !read) return Refusal(std::move(read).error());
  return chat;
}

Answer<ChatRequest> Choose(const std::string& choice) {
  return Read(std::string(kTools) + R"(, "tool_choice": )" + choice);
}

TEST(ToolFieldsTest, Choices) {
  EXPECT_EQ(Read(kTools)->tools.size(), 2U);
  EXPECT_EQ(Read(kTools)->tool_choice, ToolChoice::kAuto);
  EXPECT_EQ(Choose(R"("auto")")->tool_choice, ToolChoice::kAuto);
  EXPECT_TRUE(Choose(R"("none")")->tools.is_null());
  EXPECT_EQ(Choose(R"("required")")->tool_choice, ToolChoice::kRequired);
  for (const char* named : {R"({"type": "function", "function": {"name": "g"}})",
                            R"({"type": "function", "name": "g"})"}) {
    EXPECT_EQ(Choose(named)->tool_choice, ToolChoice::kRequired);
    EXPECT_EQ(Choose(named)->forced_tool, "g");
  }
}

TEST(ToolFieldsTest, WrongChoicesAreNeverAnsweredFreely) {
  for (const char* wrong :
       {R"("maybe")", "5", "[]", "{}", R"({"type": "function"})", R"({"type": "f", "name": "g"})",
        R"({"type": "function", "function": {"name": "h"}})"}) {
    const auto read = Choose(wrong);
    ASSERT_FALSE(read.has_value()) << wrong;
    EXPECT_EQ(read.error().status, 400);
    EXPECT_NE(read.error().message.find("tool_choice"), std::string::npos);
  }
  EXPECT_EQ(Choose(R"({"type": "allowed_tools"})").error().status, 501);
  EXPECT_EQ(Read(R"("tool_choice": "required")").error().message,
            "tool_choice: needs tools to choose from");
  EXPECT_TRUE(Read(R"("tool_choice": "auto", "tools": [])")->tools.is_null());
}

TEST(ToolFieldsTest, OneCallOnly) {
  EXPECT_TRUE(Read(kTools)->parallel_tool_calls);
  EXPECT_FALSE(
      Read(std::string(kTools) + R"(, "parallel_tool_calls": false)")->parallel_tool_calls);
  EXPECT_FALSE(Read(R"("parallel_tool_calls": 5)").has_value());
}

TEST(ToolFieldsTest, TheOlderFieldsAreRefused) {
  EXPECT_EQ(Read(R"("functions": [{"name": "f"}])").error().status, 400);
  EXPECT_EQ(Read(R"("function_call": {"name": "f"})").error().status, 400);
  EXPECT_TRUE(Read(R"("functions": [], "function_call": "none")").has_value());
}

}  // namespace
}  // namespace vivace
