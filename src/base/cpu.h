// CpuFacts: what this machine computes with: model, caches, and each logical cpu's core,
// package, memory node and kind.
//
// Read from /proc and /sys. What a machine does not tell is 0 or empty; a machine that
// tells nothing has no cpus here, and one still runs on it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vivace {

// kLittle: an efficiency core. On a machine with one kind of core all are kBig.
enum class CoreKind : std::uint8_t { kBig, kLittle };

struct LogicalCpu {
  int id = 0;         // the system's number
  int core = 0;       // the lowest id among the cpus of this physical core
  int smt_index = 0;  // place among the cpus of its core; not 0: shares it with another
  int package = 0;
  int node = 0;  // of memory
  CoreKind kind = CoreKind::kBig;
};

struct CpuFacts {
  std::string model;             // "Intel(R) Xeon(R) Processor", "Raspberry Pi 5 Model B Rev 1.0"
  std::int64_t l1d_bytes = 0;    // of one big core
  std::int64_t l2_bytes = 0;     // of one big core, or of the cluster that shares it
  std::int64_t l3_bytes = 0;     // of one slice of cores that share it
  std::vector<LogicalCpu> cpus;  // online, in ascending order of id
};

// `root` is "/" but for tests.
std::string ReadCpuModel(const std::string& root = "/");
CpuFacts ReadCpuFacts(const std::string& root = "/");

}  // namespace vivace
