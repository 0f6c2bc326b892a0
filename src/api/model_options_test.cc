#include "api/model_options.h"

#include <gtest/gtest.h>

namespace vivace {
namespace {

std::string ErrorOf(const ParameterTexts& parameters) {
  const auto options = OptionsOf(parameters);
  return options ? "" : options.error().message;
}

TEST(ModelOptionsTest, ParametersBecomeTypedOptionsAndBack) {
  const ParameterTexts parameters = {{"temperature", "0.5"}, {"num_ctx", "4096"}, {"stop", "a"},
                                     {"use_mmap", "true"},   {"stop", "\"b\""},   {"seed", "7"}};
  const auto options = OptionsOf(parameters);
  ASSERT_TRUE(options.has_value()) << options.error().message;
  EXPECT_EQ(options->dump(),
            R"({"temperature":0.5,"num_ctx":4096,"stop":["a","\"b\""],"use_mmap":true,"seed":7})");
  const auto again = ParametersOf(*options);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(*OptionsOf(*again), *options);
}

TEST(ModelOptionsTest, WrongParametersAreNamed) {
  EXPECT_NE(ErrorOf({{"temprature", "1"}}).find("\"temprature\" is unknown"), std::string::npos);
  EXPECT_NE(ErrorOf({{"top_k", "1.5"}}).find("top_k: expected a whole number"), std::string::npos);
  EXPECT_NE(ErrorOf({{"top_k", "x"}}).find("top_k"), std::string::npos);
  EXPECT_NE(ErrorOf({{"top_k", "1e300"}}).find("top_k"), std::string::npos);
  EXPECT_NE(ErrorOf({{"use_mmap", "yes"}}).find("true or false"), std::string::npos);
  EXPECT_EQ(ErrorOf({{"mirostat", "2"}, {"num_thread", "8"}}), "");
  EXPECT_FALSE(ParametersOf({{"nonsense", Json::array({Json::object()})}}).has_value());
  EXPECT_FALSE(ParametersOf({{"stop", Json::array({1})}}).has_value());
}

TEST(ModelOptionsTest, TypesOfARequestsOptionsAreChecked) {
  const auto status = [](const char* text) {
    const Json object = Json::parse(text);
    Fields fields(object, "options.");
    CheckOptions(fields);
    return fields.status();
  };
  EXPECT_TRUE(status(R"({"num_ctx": 4096.0, "top_k": null, "unknown": []})").has_value());
  for (const char* text : {R"({"num_thread": "8"})", R"({"num_ctx": 1.5})", R"({"stop": 5})",
                           R"({"use_mmap": 1})", R"({"temperature": "hot"})"}) {
    const auto wrong = status(text);
    ASSERT_FALSE(wrong.has_value()) << text;
    EXPECT_TRUE(wrong.error().message.starts_with("options.")) << wrong.error().message;
  }
}

}  // namespace
}  // namespace vivace
