// What earlier runs have measured on this machine: $VIVACE_HOME/tuning.json.
//
// Nothing depends on it but speed: a file that is missing, unreadable or from another
// program is as good as none, and a failure to write it is not reported.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/prefetch_tuning.h"

namespace vivace {

// Names what a prefetch distance was measured on.
std::string TuningKey(const std::string& cpu_model, const char* kernels, int threads);

std::optional<std::int64_t> RememberedPrefetch(const std::string& key);
// Where nothing is remembered, the distance is found again.
PrefetchTuning RememberedTuning(const std::string& key);
void RememberPrefetch(const std::string& key, std::int64_t bytes);

}  // namespace vivace
