// What earlier runs have measured on this machine: $VIVACE_HOME/tuning.json.
//
// Nothing depends on it but speed: a file that is missing, unreadable or from another
// program is as good as none, and a failure to write what a run has found on the way is not
// reported. What `vivace tune` has found is kept for each processor, kernels and container.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "engine/prefetch_tuning.h"
#include "measure/engine_tuning.h"

namespace vivace {

// Names what a prefetch distance was measured on.
std::string TuningKey(const std::string& cpu_model, const char* kernels, int threads);

std::optional<std::int64_t> RememberedPrefetch(const std::string& key);
// Where nothing is remembered, the distance is found again.
PrefetchTuning RememberedTuning(const std::string& key);
void RememberPrefetch(const std::string& key, std::int64_t bytes);

// Names what settings were tuned for: processor, kernels, and the processors and quota that
// this process is granted. With other ones the settings of this key do not apply.
std::string MachineKey(const char* kernels);

std::optional<TunedSettings> RememberedSettings(const std::string& key);
Result<void> RememberSettings(const std::string& key, const TunedSettings& settings);
// False where there was nothing.
Result<bool> ForgetSettings(const std::string& key);

std::string TuningPath();

}  // namespace vivace
