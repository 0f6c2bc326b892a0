// Which cpus to run on, and with it how many threads: one for each big physical core that
// this process may use, within its quota and one memory node.
#pragma once

#include <span>
#include <vector>

#include "base/cpu.h"

namespace vivace {

// The default: one thread for each cpu of the result, never empty. `affinity` are the
// cpus allowed (empty: all), `quota_cores` as of QuotaCores.
//
// A core counts once, however many cpus share it. Little cores are taken only where no
// big one is allowed: at a barrier all would wait for them. With several memory nodes the
// one with the most cores is taken: weights cross the link between nodes at a fraction of
// the speed of memory.
std::vector<int> ChooseCpus(const CpuFacts& facts, std::span<const int> affinity,
                            double quota_cores);

// The same for this machine and process, now.
std::vector<int> ChooseCpus();

}  // namespace vivace
