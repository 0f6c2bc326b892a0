#include "chat/tool_definitions.h"

#include <string>

#include <gtest/gtest.h>

namespace vivace {
namespace {

std::string ErrorOf(const std::string& text) {
  const auto tools = ParseTools(*ParseJson(text));
  return tools ? std::string("accepted") : tools.error().message;
}

std::string WithParameters(const std::string& parameters) {
  return ErrorOf(R"([{"function":{"name":"f","parameters":)" + parameters + "}}]");
}

TEST(ParseTools, AcceptsFunctionsAndNothing) {
  EXPECT_TRUE(ParseTools(Json())->is_null());
  EXPECT_TRUE(ParseTools(Json::array())->is_null());
  const Json tools = *ParseJson(R"([{"type":"function","function":{"name":"f","x":[{}]}}])");
  EXPECT_EQ(*ParseTools(tools), tools);
  EXPECT_EQ(WithParameters("null"), "accepted");
  EXPECT_EQ(WithParameters("{}"), "accepted");
  EXPECT_EQ(WithParameters(R"({"type":"object","properties":{}})"), "accepted");
  EXPECT_EQ(WithParameters(R"({"$ref":"#/$defs/a","required":["a"]})"), "accepted");
}

TEST(ParseTools, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(ErrorOf("{}"), "tools: expected an array, got object");
  EXPECT_EQ(ErrorOf("[[]]"), "tools[0]: expected an object, got array");
  EXPECT_EQ(ErrorOf("[{}]"), R"(tools[0]: needs a "function" object)");
  EXPECT_EQ(ErrorOf(R"([{"function":{}}])"), R"(tools[0]: function: needs a "name")");
  EXPECT_EQ(ErrorOf(R"([{"function":{"name":4}}])"),
            "tools[0]: function.name: expected a string, got number");
  EXPECT_EQ(ErrorOf(R"([{"type":"web_search","function":{"name":"f"}}])"),
            R"(tools[0]: type: only "function" is available)");
  EXPECT_EQ(ErrorOf(R"([{"function":{"name":")" + std::string(300, 'x') + R"("}}])"),
            "tools[0]: function.name: longer than 256 bytes");
}

TEST(ParseTools, NamesTheToolThatIsWrong) {
  EXPECT_EQ(WithParameters("5"),
            R"(tools[0] "f": parameters: expected a schema, that is an object, got number)");
  EXPECT_EQ(WithParameters(R"({"type":"string"})"),
            R"(tools[0] "f": parameters: type: arguments are always of type "object", got )"
            R"("string")");
  EXPECT_EQ(WithParameters(R"({"properties":[]})"),
            R"(tools[0] "f": parameters: properties: expected an object, got array)");
  EXPECT_EQ(WithParameters(R"({"required":[1]})"),
            R"(tools[0] "f": parameters: required: expected an array of names, got number)");
  EXPECT_EQ(ErrorOf(R"([{"function":{"name":"f"}},{"function":{"name":"f"}}])"),
            R"(tools[1] "f": another tool has this name already)");
}

TEST(ToolSchema, ArgumentsAreObjects) {
  const auto schema = [](const std::string& function) {
    return ToolSchema(*ParseJson(R"({"function":)" + function + "}")).dump();
  };
  EXPECT_EQ(schema(R"({"name":"f"})"),
            R"({"type":"object","properties":{},"additionalProperties":false})");
  EXPECT_EQ(schema(R"({"name":"f","parameters":{"required":["a"]}})"),
            R"({"required":["a"],"type":"object"})");
  EXPECT_EQ(schema(R"({"name":"f","parameters":{"type":"object"}})"), R"({"type":"object"})");
  EXPECT_EQ(schema(R"({"name":"f","parameters":{"type":"object","properties":{}}})"),
            R"({"type":"object","properties":{},"additionalProperties":false})");
  for (const std::string open : {R"("additionalProperties":true)", R"("required":["a"])",
                                 R"("anyOf":[{"required":["a"]}])"}) {
    const std::string given = R"({"type":"object","properties":{},)" + open + "}";
    EXPECT_EQ(schema(R"({"name":"f","parameters":)" + given + "}"), given);
  }
}

}  // namespace
}  // namespace vivace
