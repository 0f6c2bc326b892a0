// MachineLimits: the two limits that no engine passes, measured: how fast memory is read and
// how many int8 products a second the kernels' dot step makes.
//
// A quick look takes about a second. Machines that are shared differ by the minute: for a
// share of the limit, measure both in the same minute (see measure/engine_bench.h).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/thread_team.h"
#include "machine/spread.h"

namespace vivace {

// Bytes per second of a plain read with prefetch. Zeros where it was not measured.
struct ReadSpeed {
  Spread one_thread;
  Spread all_threads;
  double huge_share = 0;  // of the memory, mapped by 2 MB pages
  std::string error;      // why it was not measured; "" if it was
};

struct TierPeak {
  std::string tier;
  Spread one_thread;  // products per second
  Spread all_threads;
};

struct MachineLimits {
  int threads = 0;        // of "all"
  std::size_t bytes = 0;  // read at once
  ReadSpeed huge_pages;
  ReadSpeed small_pages;
  ReadSpeed file;  // mapped, from the page cache
  std::vector<TierPeak> int8;
  double seconds = 0;  // that all this took

  // Of the fastest kind of pages.
  double best_read() const;
};

struct LimitOptions {
  std::size_t bytes = std::size_t{256} << 20;
  std::string file_folder;  // where a file of that size may be written for a moment
  int samples = 5;
  std::function<void(double)> progress = [](double) {};  // share done
};

// Much more than the caches hold, as far as memory allows: a quarter of `usable` at most.
std::size_t ReadBytesFor(std::int64_t l3_total, std::int64_t usable);

// kExhausted when there is no memory for the reads. That a file cannot be written is no
// failure: the result says why.
Result<MachineLimits> MeasureLimits(ThreadTeam& team, const LimitOptions& options);

}  // namespace vivace
