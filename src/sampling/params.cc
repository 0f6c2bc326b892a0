#include "sampling/params.h"

#include <fmt/format.h>

namespace vivace {
namespace {

struct Range {
  const char* name;
  float value;
  float low;
  float high;
};

}  // namespace

Result<void> SamplingParams::Validate() const {
  const Range ranges[] = {
      {"temperature", temperature, 0.0F, 100.0F},
      {"top_p", top_p, 0.0F, 1.0F},
      {"min_p", min_p, 0.0F, 1.0F},
      {"typical_p", typical_p, 0.0F, 1.0F},
      {"repeat_penalty", repeat_penalty, 0.01F, 100.0F},
      {"presence_penalty", presence_penalty, -100.0F, 100.0F},
      {"frequency_penalty", frequency_penalty, -100.0F, 100.0F},
      {"top_k", static_cast<float>(top_k), 0.0F, 1e9F},
      {"repeat_last_n", static_cast<float>(repeat_last_n), -1.0F, 1e9F},
      {"min_keep", static_cast<float>(min_keep), 0.0F, 1e9F},
  };
  for (const Range& range : ranges) {
    if (!(range.value >= range.low && range.value <= range.high)) {
      return Fail(ErrorKind::kBadInput, fmt::format("{} is {}, allowed is {} to {}", range.name,
                                                    range.value, range.low, range.high));
    }
  }
  return {};
}

}  // namespace vivace
