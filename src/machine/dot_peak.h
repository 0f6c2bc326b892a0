// How many int8 products a second the kernels' own dot step makes when nothing else is in
// its way: no memory, no scales.
#pragma once

#include "base/thread_team.h"
#include "kernels/kernel_table.h"

namespace vivace {

// Products per second of the first `threads` members together, over about 8 ms.
double MeasureDotPeak(const KernelTable& kernels, ThreadTeam& team, int threads);

}  // namespace vivace
