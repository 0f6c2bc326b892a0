#include "base/quota.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <sstream>

#include "base/sysfs.h"

namespace vivace {
namespace {

enum class Version : std::uint8_t { kOne, kTwo };

// A folder of a control group's files.
struct Group {
  Version version;
  std::string folder;
};

// `path` and its parents below `mount`, innermost first, and the mount itself. In a
// container the path may be the host's: then only the mount exists, and it is the group.
void AddGroups(Version version, const std::string& mount, std::string path,
               std::vector<Group>& groups) {
  // A process moved out of its namespace's root sees a path that climbs above it.
  if (path.find("..") != std::string::npos) path.clear();
  while (path.size() > 1) {
    groups.push_back({version, mount + path});
    path.resize(path.find_last_of('/'));
  }
  groups.push_back({version, mount});
}

// All groups whose limits of `controller`, "cpu" or "memory", hold for this process.
std::vector<Group> OwnGroups(const std::string& root, const std::string& controller) {
  const std::string mount = root + "sys/fs/cgroup";
  std::vector<Group> groups;
  std::ifstream file(root + "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    // "0::/path" is version 2, "4:cpu,cpuacct:/path" version 1.
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (!path.empty() && path.front() != '/') continue;
    if (controllers.empty()) {
      AddGroups(Version::kTwo, mount, path, groups);
      AddGroups(Version::kTwo, mount + "/unified", path, groups);
    } else if (("," + controllers + ",").find("," + controller + ",") != std::string::npos) {
      AddGroups(Version::kOne, mount + "/" + controller, path, groups);
      if (controllers != controller) {
        AddGroups(Version::kOne, mount + "/" + controllers, path, groups);
      }
    }
  }
  return groups;
}

double GroupQuota(const Group& group) {
  double quota = 0;
  double period = 0;
  if (group.version == Version::kTwo) {
    // "max 100000" or "150000 100000".
    std::istringstream line(ReadFirstLine(group.folder + "/cpu.max"));
    if (!(line >> quota >> period)) return 0;
  } else {
    quota = static_cast<double>(ReadNumber(group.folder + "/cpu.cfs_quota_us", -1));
    period = static_cast<double>(ReadNumber(group.folder + "/cpu.cfs_period_us", 0));
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

}  // namespace

Quota ReadQuota(const std::string& root) {
  Quota smallest;
  for (const Group& group : OwnGroups(root, "cpu")) {
    const double quota = GroupQuota(group);
    if (quota > 0 && (smallest.cores == 0 || quota < smallest.cores)) {
      const char* file = group.version == Version::kTwo ? "/cpu.max" : "/cpu.cfs_quota_us";
      smallest = {.cores = quota, .source = group.folder + file};
    }
  }
  return smallest;
}

double QuotaCores(const std::string& root) { return ReadQuota(root).cores; }

std::int64_t MemoryLimit(const std::string& root) {
  // Version 1 says "no limit" by a number near 2^63; "max" of version 2 is no number.
  constexpr std::int64_t kNone = std::int64_t{1} << 60;
  std::int64_t smallest = 0;
  for (const Group& group : OwnGroups(root, "memory")) {
    const char* file = group.version == Version::kTwo ? "/memory.max" : "/memory.limit_in_bytes";
    const std::int64_t limit = ReadNumber(group.folder + file, kNone);
    if (limit > 0 && limit < kNone && (smallest == 0 || limit < smallest)) smallest = limit;
  }
  return smallest;
}

std::vector<int> AffinityCpus() {
  // The kernel refuses a mask with fewer bits than it has cpus.
  for (int bits = 1024; bits <= kMaxCpu + 1; bits *= 2) {
    const auto count = static_cast<std::size_t>(bits);
    std::vector<cpu_set_t> set(CPU_ALLOC_SIZE(count) / sizeof(cpu_set_t));
    const std::size_t bytes = set.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, set.data()) != 0) {
      if (errno == EINVAL) continue;
      return {};
    }
    std::vector<int> cpus;
    for (int cpu = 0; cpu < bits; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set.data())) cpus.push_back(cpu);
    }
    return cpus;
  }
  return {};
}

int GrantedCores(const std::string& root) {
  const int affinity = std::max(1, static_cast<int>(AffinityCpus().size()));
  const double quota = QuotaCores(root);
  if (quota == 0 || quota >= affinity) return affinity;
  return std::max(1, static_cast<int>(std::floor(quota)));
}

Throttling ReadThrottling(const std::string& root) {
  Throttling result;
  for (const Group& group : OwnGroups(root, "cpu")) {
    if (GroupQuota(group) == 0) continue;
    // Lines of a name and a number. Each group counts its own: the one that was stopped
    // most often has the quota that matters.
    std::ifstream file(group.folder + "/cpu.stat");
    Throttling found;
    std::string name;
    for (std::int64_t value = 0; file >> name >> value;) {
      if (name == "nr_periods") found.periods = value;
      if (name == "nr_throttled") found.throttled_periods = value;
      if (name == "throttled_usec") found.throttled_us = value;         // version 2
      if (name == "throttled_time") found.throttled_us = value / 1000;  // version 1, in ns
    }
    if (found.throttled_periods > result.throttled_periods || result.periods == 0) result = found;
  }
  return result;
}

}  // namespace vivace
