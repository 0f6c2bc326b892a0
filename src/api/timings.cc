#include "api/timings.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace vivace {
namespace {

double PerSecond(std::int64_t count, double ms) {
  return count > 0 && ms > 0 ? 1000.0 * static_cast<double>(count) / ms : 0.0;
}

double PerToken(std::int64_t count, double ms) {
  return count > 0 ? ms / static_cast<double>(count) : 0.0;
}

// Microseconds are more than a clock is good for.
double Rounded(double value) { return std::round(value * 1000) / 1000; }

}  // namespace

nlohmann::ordered_json TimingsJson(const GenerateTimings& t, const Preparation& preparation) {
  const std::int64_t evaluated = t.prompt_tokens - t.cached_tokens;
  const std::int64_t later = std::max<std::int64_t>(t.decoded_tokens - 1, 0);
  return {{"cache_n", t.cached_tokens},
          {"prompt_n", evaluated},
          {"prompt_ms", Rounded(t.prefill_ms)},
          {"prompt_per_token_ms", Rounded(PerToken(evaluated, t.prefill_ms))},
          {"prompt_per_second", Rounded(PerSecond(evaluated, t.prefill_ms))},
          {"predicted_n", t.decoded_tokens},
          {"predicted_ms", Rounded(t.decode_ms)},
          {"predicted_per_token_ms", Rounded(PerToken(later, t.decode_ms))},
          {"predicted_per_second", Rounded(PerSecond(later, t.decode_ms))},
          {"forced_n", t.forced_tokens},
          {"draft_n", t.drafted_tokens},
          {"draft_n_accepted", t.accepted_tokens},
          {"queue_ms", Rounded(t.queue_ms)},
          {"template_ms", Rounded(preparation.template_ms)},
          {"tokenize_ms", Rounded(preparation.tokenize_ms)},
          {"cache_ms", Rounded(t.cache_ms)},
          {"prefill_ms", Rounded(t.prefill_ms)},
          {"first_token_ms", Rounded(t.first_token_ms)},
          {"truncated", t.dropped_tokens > 0},
          {"dropped_tokens", t.dropped_tokens},
          {"head_coarse_n", t.coarse_tokens},
          {"head_candidates", t.coarse_tokens == 0 ? 0.0
                                                   : static_cast<double>(t.coarse_candidates) /
                                                         static_cast<double>(t.coarse_tokens)}};
}

std::string ServerTiming(const GenerateTimings& t, const Preparation& preparation) {
  return fmt::format(
      "queue;dur={:.3f}, template;dur={:.3f}, tokenize;dur={:.3f}, cache;dur={:.3f}, "
      "prefill;dur={:.3f}, ttft;dur={:.3f}, decode;dur={:.3f}",
      t.queue_ms, preparation.template_ms, preparation.tokenize_ms, t.cache_ms, t.prefill_ms,
      t.first_token_ms, t.decode_ms);
}

std::string TimingsLine(const GenerateTimings& t) {
  const std::int64_t evaluated = t.prompt_tokens - t.cached_tokens;
  return fmt::format(
      "first token {:.0f} ms ({} prompt tokens, {} cached, {:.0f} tokens/s) · {} tokens at {:.1f} "
      "tokens/s",
      t.first_token_ms, t.prompt_tokens, t.cached_tokens, PerSecond(evaluated, t.prefill_ms),
      t.decoded_tokens, PerSecond(std::max<std::int64_t>(t.decoded_tokens - 1, 0), t.decode_ms));
}

}  // namespace vivace
