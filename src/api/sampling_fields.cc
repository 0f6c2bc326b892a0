#include "api/sampling_fields.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
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

constexpr std::int32_t kMany = 1 << 30;
constexpr float kMost = 100;

// Ascending: all tokens whose text has one of the breakers in it.
std::vector<TokenId> TokensWith(const std::vector<std::string>& breakers,
                                const Tokenizer& tokenizer) {
  std::vector<TokenId> tokens;
  for (std::size_t id = 0; id < tokenizer.vocab_size(); ++id) {
    const auto token = static_cast<TokenId>(id);
    const std::string_view piece = tokenizer.Piece(token);
    const auto has = [&](const std::string& text) { return piece.find(text) != piece.npos; };
    if (std::ranges::any_of(breakers, has)) tokens.push_back(token);
  }
  return tokens;
}

void ReadDry(Fields& fields, const Tokenizer& tokenizer, DryParams& dry) {
  dry.multiplier = Clamped(fields, "dry_multiplier", dry.multiplier, 0, kMost);
  const auto base = static_cast<float>(fields.Number("dry_base", dry.base));
  // As llama.cpp: a base below 1 makes no sense.
  dry.base = base < 1 ? DryParams().base : std::min(base, kMost);
  dry.allowed_length = ClampedInteger(fields, "dry_allowed_length", dry.allowed_length, 0, kMany);
  dry.last_n = ClampedInteger(fields, "dry_penalty_last_n", dry.last_n, -1, kMany);
  std::vector<std::string> breakers = DryBreakers();
  if (const Json* listed = fields.Array("dry_sequence_breakers")) {
    breakers = fields.Texts("dry_sequence_breakers");
    if (listed->empty()) fields.Reject("dry_sequence_breakers", "empty, at least one is needed");
    constexpr std::size_t kMostBreakers = 128;
    if (listed->size() > kMostBreakers) {
      fields.Reject("dry_sequence_breakers",
                    fmt::format("{} texts, allowed is up to {}", listed->size(), kMostBreakers));
      return;
    }
  }
  std::erase(breakers, "");
  if (dry.multiplier > 0) dry.breakers = TokensWith(breakers, tokenizer);
}

void ReadRareSamplers(Fields& fields, SamplingParams& sampling) {
  sampling.top_n_sigma = Clamped(fields, "top_n_sigma", sampling.top_n_sigma, -1, kMost);
  sampling.xtc_probability = Clamped(fields, "xtc_probability", sampling.xtc_probability, 0, 1);
  sampling.xtc_threshold = Clamped(fields, "xtc_threshold", sampling.xtc_threshold, 0, 1);
  sampling.dynatemp_range = Clamped(fields, "dynatemp_range", sampling.dynatemp_range, 0, kMost);
  sampling.dynatemp_exponent =
      Clamped(fields, "dynatemp_exponent", sampling.dynatemp_exponent, 0, kMost);
  MirostatParams& mirostat = sampling.mirostat;
  mirostat.version = static_cast<std::int32_t>(fields.Integer("mirostat", mirostat.version, 0, 2));
  mirostat.tau = Clamped(fields, "mirostat_tau", mirostat.tau, 0, kMost);
  mirostat.eta = Clamped(fields, "mirostat_eta", mirostat.eta, 0, 1);
  AdaptiveParams& adaptive = sampling.adaptive;
  adaptive.target = Clamped(fields, "adaptive_target", adaptive.target, -1, 1);
  adaptive.decay = Clamped(fields, "adaptive_decay", adaptive.decay, 0, 0.99F);
}

}  // namespace

std::vector<std::string> DryBreakers() { return {"\n", ":", "\"", "*"}; }

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
  ReadDry(fields, tokenizer, sampling.dry);
  ReadRareSamplers(fields, sampling);
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
