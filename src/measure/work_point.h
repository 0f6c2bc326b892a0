// WorkPoint: how fast one amount of work is done, and what share of the machine's limits
// that is; made from samples that each know the limits of their own moment.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/spread.h"
#include "measure/model_work.h"

namespace vivace {

struct WorkPoint {
  std::int64_t size = 0;    // tokens of a prompt, positions of context, or sequences
  Work work;                // of what was timed, mean of the samples
  double output_bytes = 0;  // of that, of the output matrix or its coarse head
  int samples = 0;
  Spread seconds;
  Spread tokens;       // per second, of all sequences together
  Spread bytes;        // per second
  Spread products;     // per second
  Spread limit_share;  // of the speed that the roofline allows
  Spread read_share;   // of the read speed
  Spread peak_share;   // of the int8 peak
};

struct WorkSample {
  double seconds = 0;
  double output_bytes = 0;  // beside those of `work`
  Limit limit;              // of that moment
};

struct WorkSamples {
  std::int64_t size = 0;
  Work work;  // without the output matrix's bytes, which differ by sample
  std::vector<WorkSample> samples = {};

  WorkPoint Point() const;
};

// Of those that have samples.
std::vector<WorkPoint> PointsOf(const std::vector<WorkSamples>& samples);

}  // namespace vivace
