#include "api/sampling_fields.h"

#include <cstdlib>
#include <limits>
#include <memory>

#include <gtest/gtest.h>

#include "api/prompt_field.h"
#include "api/sampler_steps.h"
#include "tokenizer/spec_json.h"
#include "tokenizer/tables.h"

namespace vivace {
namespace {

// A small real vocabulary.
const Tokenizer& SmallTokenizer() {
  static const auto* tables = [] {
    const char* root = std::getenv("VIVACE_SOURCE_DIR");
    const auto spec = ReadSpecJson(std::string(root != nullptr ? root : ".") +
                                   "/tests/data/tokenizer/qwen2.json");
    return new std::vector<std::byte>(*BuildTables((*spec)->spec));
  }();
  static const Tokenizer tokenizer = *Tokenizer::Open(*tables);
  return tokenizer;
}

SamplingParams Read(const Json& json, std::string* error = nullptr) {
  Fields fields(json);
  const SamplingParams sampling = ReadSampling(fields, SmallTokenizer());
  const auto status = fields.status();
  if (error != nullptr) *error = status ? "" : status.error().message;
  return sampling;
}

TEST(ReadSampling, DefaultsAreLlamas) {
  const SamplingParams sampling = Read(Json::object());
  EXPECT_FLOAT_EQ(sampling.temperature, 0.8F);
  EXPECT_EQ(sampling.top_k, 40);
  EXPECT_FLOAT_EQ(sampling.top_p, 0.95F);
  EXPECT_FLOAT_EQ(sampling.min_p, 0.05F);
  EXPECT_EQ(sampling.repeat_penalty, 1.0F);
}

TEST(ReadSampling, NumbersComeIntoTheirRange) {
  const SamplingParams sampling = Read(
      {{"temperature", -3}, {"top_p", 7}, {"top_k", -5}, {"min_p", -1}, {"repeat_penalty", 0}});
  EXPECT_EQ(sampling.temperature, 0);
  EXPECT_EQ(sampling.top_p, 1);
  EXPECT_EQ(sampling.top_k, 0);
  EXPECT_EQ(sampling.min_p, 0);
  EXPECT_FLOAT_EQ(sampling.repeat_penalty, 0.01F);
}

TEST(ReadSampling, RareSamplers) {
  std::string error;
  EXPECT_FALSE(
      Read({{"mirostat", 0}, {"dry_multiplier", 0.0}, {"top_n_sigma", -1}}, &error).needs_chain());
  EXPECT_EQ(error, "");
  const SamplingParams rare = Read({{"xtc_probability", 0.5},
                                    {"mirostat", 2},
                                    {"dynatemp_range", 7},
                                    {"adaptive_target", 0.3},
                                    {"dry_base", 0.5},
                                    {"dry_multiplier", 1}});
  EXPECT_EQ(rare.xtc_probability, 0.5F);
  EXPECT_EQ(rare.mirostat.version, 2);
  EXPECT_EQ(rare.dynatemp_range, 7);
  EXPECT_EQ(rare.adaptive.target, 0.3F);
  EXPECT_EQ(rare.dry.base, 1.75F) << "below 1: the default";
  EXPECT_TRUE(rare.needs_chain());
  (void)Read({{"mirostat", 3}}, &error);
  EXPECT_NE(error.find("mirostat"), std::string::npos);
  (void)Read({{"dry_sequence_breakers", Json::array()}}, &error);
  EXPECT_NE(error.find("dry_sequence_breakers"), std::string::npos);
}

TEST(ReadSampling, BreakersAreTheTokensThatHoldThem) {
  const SamplingParams dry = Read({{"dry_multiplier", 1}, {"dry_sequence_breakers", {"a", ""}}});
  ASSERT_FALSE(dry.dry.breakers.empty());
  EXPECT_TRUE(std::ranges::is_sorted(dry.dry.breakers));
  for (const TokenId token : dry.dry.breakers) {
    EXPECT_NE(SmallTokenizer().Piece(token).find('a'), std::string::npos);
  }
}

TEST(ReadSampling, EveryFormOfBias) {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  using Bias = std::vector<std::pair<TokenId, float>>;
  EXPECT_EQ(Read({{"logit_bias", {{"7", -100}}}}).logit_bias, Bias({{7, -100}}));
  EXPECT_EQ(Read({{"logit_bias", Json::array({Json::array({7, false})})}}).logit_bias,
            Bias({{7, kNever}}));
  const auto by_text = Read({{"logit_bias", Json::array({Json::array({"a", -5})})}}).logit_bias;
  ASSERT_EQ(by_text.size(), 1);
  EXPECT_EQ(SmallTokenizer().Piece(by_text.front().first), "a");
  // No sense: skipped.
  const Json odd = Json::array({5, Json::array({7}), Json::array({7, "x"}), Json::array({-1, 2}),
                                Json::array({7, true}), Json::array({1 << 30, 2})});
  EXPECT_TRUE(Read({{"logit_bias", odd}}).logit_bias.empty());
}

std::string SamplersError(const Json& samplers, SamplingParams& sampling) {
  const Json json = {{"samplers", samplers}};
  Fields fields(json);
  (void)ReadSamplers(fields, sampling);
  const auto status = fields.status();
  return status ? "" : status.error().message;
}

TEST(ReadSamplers, WhatIsNotListedIsOff) {
  SamplingParams sampling;
  EXPECT_EQ(SamplersError({"top_k"}, sampling), "");
  EXPECT_EQ(sampling.top_k, 40);
  EXPECT_EQ(sampling.top_p, 1);
  EXPECT_EQ(sampling.min_p, 0);
  EXPECT_EQ(sampling.temperature, 1);
  SamplingParams none;
  EXPECT_EQ(SamplersError(Json::array(), none), "");
  EXPECT_EQ(none.top_k, 0);
}

TEST(ReadSamplers, LettersAndNames) {
  SamplingParams letters;
  SamplingParams names;
  EXPECT_EQ(SamplersError("edskypmxt", letters), "");
  EXPECT_EQ(
      SamplersError({"penalties", "top-k", "typical_p", "top_p", "min_p", "temperature"}, names),
      "");
  EXPECT_EQ(letters.top_p, names.top_p);
}

TEST(ReadSamplers, AnyOrderAndNumber) {
  using Steps = std::vector<SamplingStep>;
  SamplingParams sampling;
  EXPECT_EQ(SamplersError({"temperature", "top_p", "top_p"}, sampling), "");
  EXPECT_EQ(sampling.steps,
            (Steps{SamplingStep::kTemperature, SamplingStep::kTopP, SamplingStep::kTopP}));
  SamplingParams usual;
  EXPECT_EQ(SamplersError({"top_p", "xtc", "temperature"}, usual), "");
  EXPECT_TRUE(usual.steps.empty());
  SamplingParams greedy;
  greedy.temperature = 0;
  EXPECT_EQ(SamplersError({"top_p", "top_k", "temperature"}, greedy), "");
  EXPECT_TRUE(greedy.steps.empty());
}

TEST(ReadSamplers, WhatMakesNoSenseIsRefused) {
  SamplingParams unknown;
  EXPECT_NE(SamplersError({"magic"}, unknown).find("\"magic\" is unknown"), std::string::npos);
  EXPECT_NE(SamplersError(5, unknown), "");
  EXPECT_NE(SamplersError(Json::array({5}), unknown), "");
  EXPECT_NE(SamplersError(std::vector<std::string>(65, "top_k"), unknown), "");
}

TEST(ReadTokenIds, OnlyTokensOfTheVocabulary) {
  const Tokenizer& tokenizer = SmallTokenizer();
  EXPECT_EQ(*ReadTokenIds(Json::array({1, 2}), tokenizer, "t"), TokenIds({1, 2}));
  for (const Json& wrong :
       {Json(-1), Json(tokenizer.vocab_size()), Json(1.5), Json("a"), Json(true), Json(nullptr),
        Json(18446744073709551615U), Json::array()}) {
    const auto read = ReadTokenIds(Json::array({1, wrong}), tokenizer, "t");
    ASSERT_FALSE(read) << wrong;
    EXPECT_EQ(read.error().status, 400);
    EXPECT_EQ(read.error().message.find("t[1]: "), 0) << read.error().message;
  }
}

TEST(ReadContent, MixesIdsAndTexts) {
  const Tokenizer& tokenizer = SmallTokenizer();
  const auto ids = ReadContent(Json::array({1, "a", 2}), tokenizer, Tokenizer::Special::kParse);
  ASSERT_TRUE(ids);
  EXPECT_EQ(ids->size(), 3);
  EXPECT_EQ(TextOfTokens(tokenizer, std::span(*ids).subspan(1, 1)), "a");
}

}  // namespace
}  // namespace vivace
