#include "machine/advice.h"

#include <algorithm>

#include <fmt/format.h>

namespace vivace {
namespace {

constexpr double kGb = 1e9;

double Gb(std::int64_t bytes) { return static_cast<double>(bytes) / kGb; }

class Adviser {
 public:
  Adviser(const MachineFacts& facts, const MachineLimits& limits, const HomeFacts& home)
      : facts_(facts), limits_(limits), home_(home) {}

  std::vector<Advice> All() {
    Instructions();
    Kernels();
    Processors();
    Clock();
    Memory();
    Nodes();
    HugePages();
    Figures();
    std::stable_partition(advice_.begin(), advice_.end(),
                          [](const Advice& advice) { return advice.warning; });
    return std::move(advice_);
  }

 private:
  void Warn(const char* id, std::string text) { advice_.push_back({id, true, std::move(text)}); }
  void Note(const char* id, std::string text) { advice_.push_back({id, false, std::move(text)}); }

  void Instructions() {
    if (facts_.emulated) {
      Warn("emulated",
           "The processor is emulated, which costs a factor of ten and more. Use a "
           "build for the real processor, or turn on hardware virtualization.");
    }
    for (const TierFacts& tier : facts_.tiers) {
      if (tier.name != "avx2" || tier.missing.empty()) continue;
      std::string text = fmt::format(
          "This processor lacks {}: the plain kernels run, several times slower.", tier.missing);
      if (!facts_.hypervisor.empty()) {
        text += " A virtual machine may hide it: give it the host's CPU type.";
      }
      Warn("no_avx2", std::move(text));
    }
  }

  void Kernels() {
    if (facts_.tier.empty()) {
      Warn("kernels_refused", fmt::format("VIVACE_KERNELS is \"{}\", which this CPU lacks: every "
                                          "command that computes refuses. Unset it.",
                                          facts_.wished_tier));
      return;
    }
    std::string fastest;
    for (const TierFacts& tier : facts_.tiers) {
      if (tier.missing.empty()) fastest = tier.name;
    }
    if (facts_.tier != fastest) {
      Note("kernels_forced", fmt::format("VIVACE_KERNELS asks for {}, although this CPU has {}.",
                                         facts_.tier, fastest));
    }
  }

  void Processors() {
    const auto online = facts_.cpu.cpus.size();
    const auto allowed = facts_.affinity.empty() ? online : facts_.affinity.size();
    if (facts_.quota.cores > 0 && facts_.quota.cores < static_cast<double>(allowed)) {
      Note("quota", fmt::format("The container may use {:.3g} of {} processors ({}): {} threads "
                                "compute. A larger quota makes prompts faster.",
                                facts_.quota.cores, allowed, facts_.quota.source,
                                facts_.chosen_cpus.size()));
    }
    const Throttling& stops = facts_.throttling;
    if (stops.periods > 0 && 20 * stops.throttled_periods > stops.periods) {
      Warn("throttled", fmt::format("The quota stopped this container in {} of {} periods: answers "
                                    "stutter. Use fewer threads, or raise the quota.",
                                    stops.throttled_periods, stops.periods));
    }
    if (allowed < online) {
      Note("affinity",
           fmt::format("This process is confined to {} of {} processors.", allowed, online));
    }
  }

  void Clock() {
    if (facts_.governor != "powersave" && facts_.governor != "conservative") return;
    Note("governor", fmt::format("The frequency governor is {}; `cpupower frequency-set -g "
                                 "performance` makes the first words come sooner.",
                                 facts_.governor));
  }

  void Memory() {
    const MemoryFacts& memory = facts_.memory;
    if (memory.swap_used > std::max<std::int64_t>(memory.total / 50, 256 << 20)) {
      Warn("swap", fmt::format("{:.1f} GB of swap are in use: memory is short, and what is swapped "
                               "out answers slowly.",
                               Gb(memory.swap_used)));
    }
    if (memory.usable() > 0 && memory.usable() < (std::int64_t{1} << 30)) {
      Warn("memory", fmt::format("Only {:.2f} GB of memory can be used: choose a model whose file "
                                 "is smaller than that.",
                                 Gb(memory.usable())));
    }
    if (home_.disk_free >= 0 && home_.disk_free < (std::int64_t{2} << 30)) {
      Warn("disk", fmt::format("{:.2f} GB of disk are free at {}: a model and its packed form may "
                               "not fit. VIVACE_HOME names another folder.",
                               Gb(home_.disk_free), home_.folder));
    }
  }

  void Nodes() {
    const auto with_cpus = std::count_if(facts_.nodes.begin(), facts_.nodes.end(),
                                         [](const MemoryNode& node) { return !node.cpus.empty(); });
    if (with_cpus < 2) return;
    Note("numa",
         fmt::format("There are {} memory nodes, and one process uses the cores of one. "
                     "Start one process for each with `numactl --cpunodebind=N --membind=N`.",
                     with_cpus));
  }

  void HugePages() {
    const double huge = limits_.huge_pages.all_threads.median;
    const double small = limits_.small_pages.all_threads.median;
    if (facts_.huge_pages.mode == "never") {
      Warn("thp_off",
           "Transparent huge pages are off, which often costs a tenth to a half of the "
           "speed in a virtual machine: as root, `echo madvise > "
           "/sys/kernel/mm/transparent_hugepage/enabled`.");
    } else if (!facts_.huge_pages.mode.empty() && huge > 0 && limits_.huge_pages.huge_share < 0.5) {
      Note("thp_fragmented",
           fmt::format("Only {:.0f} % of the memory asked for came as huge pages: "
                       "memory is fragmented, a restart of the machine helps.",
                       100 * limits_.huge_pages.huge_share));
    }
    const double file = limits_.file.all_threads.median;
    const bool small_pages = limits_.file.huge_share < 0.5;
    if (small_pages && file > 0 && file < 0.85 * std::max(huge, small)) {
      Note("file_pages",
           fmt::format("Mapped files are read at {:.1f} GB/s, plain memory at {:.1f}: "
                       "this file system maps files by small pages. ext4 and XFS on "
                       "recent kernels use larger ones.",
                       file / kGb, std::max(huge, small) / kGb));
    }
  }

  void Figures() {
    const ReadSpeed& read = limits_.huge_pages;
    const double gain = limits_.int8.empty() ? limits_.threads : ThreadGain(limits_.int8.back());
    // Where others hold the processors, more threads can show nothing about memory.
    if (limits_.threads > 1 && gain < 0.7 * limits_.threads) {
      Note("busy",
           fmt::format("{} threads compute only {:.1f} times as fast as one: other programs "
                       "use the processors, or threads share a core.",
                       limits_.threads, gain));
    } else if (limits_.threads > 1 && read.one_thread.median > 0.9 * read.all_threads.median) {
      Note("one_thread", fmt::format("One thread reads memory as fast as {}: `--threads 1` writes "
                                     "answers at the same speed, only prompts take longer.",
                                     limits_.threads));
    }
    if (read.all_threads.max > 1.5 * read.all_threads.min) {
      Note("unsteady", fmt::format("Reading moved between {:.1f} and {:.1f} GB/s within a second: "
                                   "other programs or machines use the same memory.",
                                   read.all_threads.min / kGb, read.all_threads.max / kGb));
    }
  }

  // Registers are each core's own, so products scale with threads on a quiet machine.
  static double ThreadGain(const TierPeak& peak) {
    return peak.all_threads.median / std::max(peak.one_thread.median, 1.0);
  }

  const MachineFacts& facts_;
  const MachineLimits& limits_;
  const HomeFacts& home_;
  std::vector<Advice> advice_;
};

}  // namespace

std::vector<Advice> AdviceFor(const MachineFacts& facts, const MachineLimits& limits,
                              const HomeFacts& home) {
  return Adviser(facts, limits, home).All();
}

}  // namespace vivace
