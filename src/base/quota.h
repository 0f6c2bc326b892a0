// How much of the machine this process may use: the affinity mask (which a cpuset
// shrinks), the container's quota of processor time and its limit of memory.
//
// Quotas are those of Linux control groups, version 2 and 1, as Docker, Kubernetes,
// systemd and LXC set them. They can change while the process runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vivace {

struct Quota {
  double cores = 0;    // possibly fractional; 0 where there is none
  std::string source;  // the file that says so
};

// The smallest quota among the process's group and all its parents. `root` is "/" but for
// tests.
Quota ReadQuota(const std::string& root = "/");
double QuotaCores(const std::string& root = "/");

// The smallest limit of memory among the process's group and all its parents, in bytes; 0
// where there is none.
std::int64_t MemoryLimit(const std::string& root = "/");

// The cpus that this thread may run on, ascending; empty if the system does not tell.
std::vector<int> AffinityCpus();

// The smaller of the affinity and the quota rounded down; at least 1. More running threads
// than that are stopped by the system for the rest of each period.
int GrantedCores(const std::string& root = "/");

// How often the quota has stopped the process's group since the group was made.
struct Throttling {
  std::int64_t periods = 0;            // in which the group wanted to run
  std::int64_t throttled_periods = 0;  // in which it was stopped
  std::int64_t throttled_us = 0;       // summed over its cpus
};

// Zeros where there is no quota.
Throttling ReadThrottling(const std::string& root = "/");

}  // namespace vivace
