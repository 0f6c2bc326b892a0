#include "api/model_defaults.h"

#include <gtest/gtest.h>

namespace vivace {
namespace {

const DerivedModel kPirate = {
    .name = "pirate:latest",
    .path = "",
    .modified = "",
    .modelfile = {.from = "base",
                  .parameters = {{"temperature", "0.5"}, {"num_predict", "-2"}, {"stop", "x"}},
                  .system = "Arr.",
                  .messages = {{"user", "Who?"}, {"assistant", "Me."}}}};

Json Applied(Dialect dialect, const char* text) {
  Json body = Json::parse(text);
  const auto applied = ApplyDefaults(kPirate, dialect, body);
  EXPECT_TRUE(applied.has_value());
  return body;
}

TEST(ModelDefaultsTest, OpenAiGetsFieldsAndMessages) {
  EXPECT_EQ(Applied(Dialect::kOpenAi, R"({"messages":[{"role":"user","content":"Hi"}]})").dump(),
            R"({"messages":[{"role":"system","content":"Arr."},{"role":"user","content":"Who?"},)"
            R"({"role":"assistant","content":"Me."},{"role":"user","content":"Hi"}],)"
            R"("temperature":0.5,"max_tokens":-1,"stop":["x"]})");
  const Json own =
      Applied(Dialect::kOpenAi, R"({"temperature":0,"max_completion_tokens":3,"stop":null,)"
                                R"("messages":[{"role":"system","content":"Be kind."}]})");
  EXPECT_EQ(own["temperature"], 0);
  EXPECT_FALSE(own.contains("max_tokens"));
  EXPECT_EQ(own["stop"], Json::array({"x"}));
  EXPECT_EQ(own["messages"].size(), 3U);
  EXPECT_EQ(own["messages"][0]["content"], "Be kind.");
}

TEST(ModelDefaultsTest, OllamaGetsOptions) {
  const Json chat =
      Applied(Dialect::kOllama, R"({"options":{"temperature":1},"messages":[{"role":"user"}]})");
  EXPECT_EQ(chat["options"].dump(), R"({"temperature":1,"num_predict":-2,"stop":["x"]})");
  EXPECT_EQ(chat["messages"].size(), 4U);
  const Json prompt = Applied(Dialect::kOllama, R"({"prompt":"Hi"})");
  EXPECT_EQ(prompt["system"], "Arr.");
  EXPECT_EQ(prompt["options"]["temperature"], 0.5);
  EXPECT_EQ(Applied(Dialect::kOllama, R"({"prompt":"Hi","system":"Own."})")["system"], "Own.");
}

TEST(ModelDefaultsTest, AnthropicGetsItsOwnNames) {
  const Json body =
      Applied(Dialect::kAnthropic, R"({"messages":[{"role":"user","content":"Hi"}]})");
  EXPECT_EQ(body["system"], "Arr.");
  EXPECT_EQ(body["stop_sequences"], Json::array({"x"}));
  EXPECT_EQ(body["messages"].size(), 3U);
}

TEST(ModelDefaultsTest, WrongBodiesAreLeftToTheEndpoint) {
  for (const char* text : {R"({"messages":5,"options":5})", R"({"messages":[],"options":[]})",
                           R"({"messages":[5]})", R"({"messages":[{"role":5}]})"}) {
    for (const Dialect dialect : {Dialect::kOpenAi, Dialect::kOllama, Dialect::kAnthropic}) {
      EXPECT_TRUE(Applied(dialect, text).is_object()) << text;
    }
  }
}

TEST(ModelDefaultsTest, ARecordThatSomebodyBrokeIsNamed) {
  DerivedModel broken = kPirate;
  broken.modelfile.parameters = {{"top_k", "many"}};
  Json body = Json::object();
  const auto applied = ApplyDefaults(broken, Dialect::kOllama, body);
  ASSERT_FALSE(applied.has_value());
  EXPECT_NE(applied.error().message.find("pirate:latest: parameter top_k"), std::string::npos);
}

}  // namespace
}  // namespace vivace
