// MachineFacts: what a person needs to know about this machine to understand its speed:
// processor, instruction sets, what the container grants, memory, nodes, huge pages.
//
// Read once from /proc, /sys and the processor itself, in milliseconds; nothing is measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/cpu.h"
#include "base/isa_flags.h"
#include "base/quota.h"
#include "machine/huge_pages.h"

namespace vivace {

struct MemoryFacts {
  std::int64_t total = 0;
  std::int64_t available = 0;  // without swapping
  std::int64_t swap_total = 0;
  std::int64_t swap_used = 0;
  std::int64_t limit = 0;  // of the container; 0: none

  // What a process can still take.
  std::int64_t usable() const;
};

struct MemoryNode {
  int id = 0;
  std::vector<int> cpus;
  std::int64_t total = 0;
};

// A tier of kernels, and what the processor lacks for it; "" where it can run.
struct TierFacts {
  std::string name;
  std::string missing;
};

struct MachineFacts {
  std::string system;  // "Linux 6.1.0 x86_64"
  CpuFacts cpu;
  IsaFlags isa;
  std::int64_t l3_total = 0;  // of all slices
  std::string governor;       // of the first big core; "" where the system does not tell
  std::string hypervisor;     // "KVM"; "" on bare metal or where it hides
  bool emulated = false;      // another processor's instructions are being interpreted
  std::vector<int> affinity;
  Quota quota;
  Throttling throttling;
  std::vector<MemoryNode> nodes;
  MemoryFacts memory;
  HugePageFacts huge_pages;
  std::vector<TierFacts> tiers;  // of this build, slowest first
  std::string tier;              // the one that commands use; "" if the wish is refused
  std::string wished_tier;       // VIVACE_KERNELS
  std::vector<int> chosen_cpus;  // one thread for each, see base/cpu_choice.h
};

// `root` is "/" but for tests; the instruction sets and the affinity are this process's.
MachineFacts ReadMachineFacts(const std::string& root = "/");

}  // namespace vivace
