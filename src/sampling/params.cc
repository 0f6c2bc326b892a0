#include "sampling/params.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace vivace {
namespace {

template <class T>
struct Range {
  const char* name;
  T value;
  T low;
  T high;
};

// NaN is in no range.
template <class T>
Result<void> Check(const Range<T>& range) {
  if (range.value >= range.low && range.value <= range.high) return {};
  return Fail(ErrorKind::kBadInput, fmt::format("{} is {}, allowed is {} to {}", range.name,
                                                range.value, range.low, range.high));
}

}  // namespace

Result<void> SamplingParams::Validate() const {
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  const Range<float> numbers[] = {
      {"temperature", temperature, 0.0F, 100.0F},
      {"top_p", top_p, 0.0F, 1.0F},
      {"min_p", min_p, 0.0F, 1.0F},
      {"typical_p", typical_p, 0.0F, 1.0F},
      {"repeat_penalty", repeat_penalty, 0.01F, 100.0F},
      {"presence_penalty", presence_penalty, -100.0F, 100.0F},
      {"frequency_penalty", frequency_penalty, -100.0F, 100.0F},
      {"dry_multiplier", dry.multiplier, 0.0F, 100.0F},
      {"dry_base", dry.base, 1.0F, 100.0F},
      {"top_n_sigma", top_n_sigma, -1.0F, 100.0F},
      {"xtc_probability", xtc_probability, 0.0F, 1.0F},
      {"xtc_threshold", xtc_threshold, 0.0F, 1.0F},
      {"dynatemp_range", dynatemp_range, 0.0F, 100.0F},
      {"dynatemp_exponent", dynatemp_exponent, 0.0F, 100.0F},
      {"mirostat_tau", mirostat.tau, 0.0F, 100.0F},
      {"mirostat_eta", mirostat.eta, 0.0F, 1.0F},
      {"adaptive_target", adaptive.target, -1.0F, 1.0F},
      {"adaptive_decay", adaptive.decay, 0.0F, 0.99F},
  };
  const Range<std::int32_t> counts[] = {
      {"top_k", top_k, -1, kMost},
      {"repeat_last_n", repeat_last_n, -1, kMost},
      {"min_keep", min_keep, 0, kMost},
      {"dry_allowed_length", dry.allowed_length, 0, kMost},
      {"dry_penalty_last_n", dry.last_n, -1, kMost},
      {"mirostat", mirostat.version, 0, 2},
  };
  for (const auto& number : numbers) VIVACE_RETURN_IF_ERROR(Check(number));
  for (const auto& count : counts) VIVACE_RETURN_IF_ERROR(Check(count));
  for (const auto& [token, bias] : logit_bias) {
    VIVACE_RETURN_IF_ERROR(Check(Range<TokenId>{"token of logit_bias", token, 0, kMost}));
    if (std::isnan(bias)) {
      return Fail(ErrorKind::kBadInput,
                  fmt::format("logit_bias of token {} is nan, allowed is any number", token));
    }
  }
  return {};
}

}  // namespace vivace
