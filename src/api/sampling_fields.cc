#include "api/sampling_fields.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace vivace {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

float Clamped(Fields& fields, std::string_view name, float fallback, float least, float most) {
  return static_cast<float>(std::clamp(fields.Number(name, fallback), double{least}, double{most}));
}

std::int32_t ClampedInteger(Fields& fields, std::string_view name, std::int32_t fallback,
                            std::int32_t least, std::int32_t most) {
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(fields.Integer(name, fallback), least, most));
}

std::optional<float> BiasOf(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? std::nullopt : std::optional(kNever);
  if (!value.is_number()) return std::nullopt;
  return static_cast<float>(value.get<double>());
}

void BiasToken(std::int64_t id, float bias, const Tokenizer& tokenizer, SamplingParams& sampling) {
  if (id < 0 || std::cmp_greater_equal(id, tokenizer.vocab_size())) return;
  sampling.logit_bias.emplace_back(static_cast<TokenId>(id), bias);
}

void BiasText(const std::string& text, float bias, const Tokenizer& tokenizer,
              SamplingParams& sampling) {
  std::vector<TokenId> ids;
  tokenizer.Encode(text, Tokenizer::Special::kParse, ids);
  for (const TokenId id : ids) BiasToken(id, bias, tokenizer, sampling);
}

std::optional<std::int64_t> IdIn(const std::string& text) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return id;
}

std::uint32_t ReadSeed(Fields& fields) {
  const std::int64_t seed = fields.Integer("seed", -1);
  return seed < 0 ? std::random_device()() : static_cast<std::uint32_t>(seed);
}

}  // namespace

void RejectUnknownSamplers(Fields& fields) {
  // And the value with which each does nothing.
  struct Neutral {
    const char* name;
    double value;
  };
  constexpr Neutral kNeutral[] = {
      {"mirostat", 0},       {"xtc_probability", 0}, {"dry_multiplier", 0},
      {"dynatemp_range", 0}, {"top_n_sigma", -1},    {"adaptive_target", -1},
  };
  for (const Neutral& neutral : kNeutral) {
    const double value = fields.Number(neutral.name, neutral.value);
    // Zero and below switches each of them off.
    if (value <= 0) continue;
    fields.Reject(neutral.name,
                  fmt::format("{} is not supported, allowed is {}", value, neutral.value));
  }
}

void ReadLogitBias(const Json& bias, const Tokenizer& tokenizer, SamplingParams& sampling) {
  if (bias.is_object()) {
    for (const auto& [key, value] : bias.items()) {
      const auto number = BiasOf(value);
      if (!number) continue;
      if (const auto id = IdIn(key)) {
        BiasToken(*id, *number, tokenizer, sampling);
      } else {
        BiasText(key, *number, tokenizer, sampling);
      }
    }
    return;
  }
  for (const Json& entry : bias) {
    if (!entry.is_array() || entry.size() != 2) continue;
    const auto number = BiasOf(entry[1]);
    if (!number) continue;
    if (entry[0].is_number_integer()) {
      BiasToken(entry[0].get<std::int64_t>(), *number, tokenizer, sampling);
    } else if (entry[0].is_string()) {
      BiasText(entry[0].get<std::string>(), *number, tokenizer, sampling);
    }
  }
}

SamplingParams ReadSampling(Fields& fields, const Tokenizer& tokenizer,
                            const SamplingParams& defaults) {
  constexpr std::int32_t kMany = 1 << 30;
  constexpr float kMost = 100;
  SamplingParams sampling = defaults;
  sampling.temperature = Clamped(fields, "temperature", defaults.temperature, 0, kMost);
  sampling.top_k = ClampedInteger(fields, "top_k", defaults.top_k, 0, kMany);
  sampling.top_p = Clamped(fields, "top_p", defaults.top_p, 0, 1);
  sampling.min_p = Clamped(fields, "min_p", defaults.min_p, 0, 1);
  sampling.typical_p = Clamped(fields, "typical_p", defaults.typical_p, 0, 1);
  sampling.min_keep = ClampedInteger(fields, "min_keep", defaults.min_keep, 0, kMany);
  sampling.repeat_penalty =
      Clamped(fields, "repeat_penalty", defaults.repeat_penalty, 0.01F, kMost);
  sampling.repeat_last_n =
      ClampedInteger(fields, "repeat_last_n", defaults.repeat_last_n, -1, kMany);
  sampling.presence_penalty =
      Clamped(fields, "presence_penalty", defaults.presence_penalty, -kMost, kMost);
  sampling.frequency_penalty =
      Clamped(fields, "frequency_penalty", defaults.frequency_penalty, -kMost, kMost);
  sampling.seed = ReadSeed(fields);
  RejectUnknownSamplers(fields);
  const Json* bias = fields.Find("logit_bias");
  if (bias != nullptr) {
    if (bias->is_structured()) {
      ReadLogitBias(*bias, tokenizer, sampling);
    } else {
      fields.Reject("logit_bias", "expected an object or an array");
    }
  }
  const auto valid = sampling.Validate();
  if (!valid) fields.Reject("sampling", valid.error().message);
  return sampling;
}

void IgnoreEnd(const Tokenizer& tokenizer, GenerateRequest& request) {
  for (std::size_t id = 0; id < tokenizer.vocab_size(); ++id) {
    const auto token = static_cast<TokenId>(id);
    if (tokenizer.IsEndOfGeneration(token)) request.sampling.logit_bias.emplace_back(token, kNever);
  }
}

}  // namespace vivace
