#include "app/doctor_report.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "app/human.h"
#include "app/section_text.h"

namespace vivace {
namespace {

constexpr std::size_t kColumns = 92;

std::string Size(std::int64_t bytes) {
  if (bytes == 0) return "unknown";
  if (bytes % (1 << 20) == 0) return fmt::format("{} MB", bytes >> 20);
  return fmt::format("{} kB", bytes >> 10);
}

std::string Plural(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string CoresText(const CpuFacts& cpu) {
  std::set<int> big;
  std::set<int> little;
  for (const LogicalCpu& logical : cpu.cpus) {
    (logical.kind == CoreKind::kBig ? big : little).insert(logical.core);
  }
  if (big.empty()) return "cores unknown";
  const std::string text =
      little.empty() ? Plural(big.size(), "core")
                     : fmt::format("{} big and {} little cores", big.size(), little.size());
  const std::size_t cores = big.size() + little.size();
  return cores == cpu.cpus.size() ? text
                                  : text + fmt::format(", {} threads of hardware", cpu.cpus.size());
}

std::string CachesText(const MachineFacts& facts) {
  std::string text = fmt::format("L1 {}, L2 {}, L3 {}", Size(facts.cpu.l1d_bytes),
                                 Size(facts.cpu.l2_bytes), Size(facts.cpu.l3_bytes));
  if (facts.l3_total > facts.cpu.l3_bytes) text += fmt::format(" of {}", Size(facts.l3_total));
  return text;
}

FactSection Processor(const MachineFacts& facts) {
  std::string where = facts.hypervisor.empty() ? "" : ", virtual (" + facts.hypervisor + ")";
  if (facts.emulated) where = ", emulated";
  const std::string isa = IsaFlagNames(facts.isa);
  FactSection section = {"Processor",
                         {(facts.cpu.model.empty() ? "unknown" : facts.cpu.model) + where,
                          CoresText(facts.cpu) + " · " + CachesText(facts),
                          isa.empty() ? "no instruction set that kernels use" : isa}};
  if (!facts.governor.empty()) section.lines.push_back("frequency governor " + facts.governor);
  section.lines.push_back(facts.system);
  return section;
}

FactSection Kernels(const MachineFacts& facts) {
  std::string others;
  for (const TierFacts& tier : facts.tiers) {
    if (tier.name == facts.tier) continue;
    others += others.empty() ? "others: " : ", ";
    others += tier.name + (tier.missing.empty() ? "" : " (needs " + tier.missing + ")");
  }
  std::string chosen = facts.tier + ", the fastest that this CPU runs";
  if (!facts.wished_tier.empty()) chosen = facts.tier + ", as VIVACE_KERNELS says";
  if (facts.tier.empty()) chosen = "refused: VIVACE_KERNELS is \"" + facts.wished_tier + "\"";
  FactSection section = {"Kernels", {chosen}};
  if (!others.empty()) section.lines.push_back(others);
  return section;
}

FactSection Threads(const MachineFacts& facts) {
  const std::size_t threads = facts.chosen_cpus.size();
  const Quota& quota = facts.quota;
  FactSection section = {
      "Threads",
      {fmt::format("{} for prompts and {} for answers, of {} allowed", threads, threads,
                   Plural(facts.affinity.size(), "processor")),
       quota.cores == 0 ? "no quota of processor time"
                        : fmt::format("quota of {:.3g} cores, {}", quota.cores, quota.source)}};
  const Throttling& stops = facts.throttling;
  if (stops.periods > 0) {
    section.lines.push_back(
        fmt::format("stopped by the quota in {} of {} periods, {} in all", stops.throttled_periods,
                    stops.periods, HumanSeconds(static_cast<double>(stops.throttled_us) / 1e6)));
  }
  return section;
}

std::string Human(std::int64_t bytes) { return HumanBytes(static_cast<double>(bytes)); }

FactSection Memory(const MachineFacts& facts) {
  const MemoryFacts& memory = facts.memory;
  const std::string limit = memory.limit > 0 ? ", container limit " + Human(memory.limit) : "";
  const std::string swap =
      memory.swap_total == 0
          ? "no swap"
          : fmt::format("{} of {} swap used", Human(memory.swap_used), Human(memory.swap_total));
  FactSection section = {"Memory",
                         {fmt::format("{}, {} available{}, {}", Human(memory.total),
                                      Human(memory.available), limit, swap)}};
  if (facts.nodes.size() > 1) {
    section.lines.push_back(fmt::format("{} memory nodes", facts.nodes.size()));
  }
  const HugePageFacts& pages = facts.huge_pages;
  section.lines.push_back(fmt::format("huge pages: transparent {}, {} reserved, {} of them free",
                                      pages.mode.empty() ? "unknown" : pages.mode, pages.reserved,
                                      pages.reserved_free));
  return section;
}

FactSection Home(const HomeFacts& home) {
  return {"Home",
          {home.folder + (home.disk_free < 0 ? "" : ", " + Human(home.disk_free) + " free")}};
}

std::string SpreadCell(const Spread& spread) {
  const double scale = 1e-9;
  const auto number = [](double value) {
    return value < 100 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
  };
  return fmt::format("{:>6} ({}-{})", number(scale * spread.median), number(scale * spread.min),
                     number(scale * spread.max));
}

void Reading(const MachineLimits& limits, SectionText& text) {
  text.Section("Reading", fmt::format("{:<16}{:<22}{}", "GB/s", "one thread",
                                      Plural(static_cast<std::size_t>(limits.threads), "thread")));
  const auto row = [&text](const char* name, const ReadSpeed& read) {
    if (!read.error.empty()) return text.Line(fmt::format("{:<16}{}", name, read.error));
    text.Line(fmt::format("{:<16}{:<22}{:<22}{:.0f} % in huge pages", name,
                          SpreadCell(read.one_thread), SpreadCell(read.all_threads),
                          100 * read.huge_share));
  };
  row("2 MB pages", limits.huge_pages);
  row("4 kB pages", limits.small_pages);
  row("mapped file", limits.file);
}

void Products(const MachineLimits& limits, SectionText& text) {
  text.Section("Products", fmt::format("{:<16}{:<22}{}", "int8, GMAC/s", "one thread",
                                       Plural(static_cast<std::size_t>(limits.threads), "thread")));
  for (const TierPeak& peak : limits.int8) {
    text.Line(fmt::format("{:<16}{:<22}{}", peak.tier, SpreadCell(peak.one_thread),
                          SpreadCell(peak.all_threads)));
  }
}

}  // namespace

std::vector<FactSection> FactSections(const Diagnosis& diagnosis) {
  const MachineFacts& facts = diagnosis.facts;
  return {Processor(facts), Kernels(facts), Threads(facts), Memory(facts), Home(diagnosis.home)};
}

std::string DoctorText(const Diagnosis& diagnosis, bool bold) {
  SectionText text(bold, kColumns);
  for (const FactSection& section : FactSections(diagnosis)) {
    for (const std::string& line : section.lines) {
      text.Section(&line == section.lines.data() ? section.name : "", Printable(line));
    }
  }
  Reading(diagnosis.limits, text);
  Products(diagnosis.limits, text);
  if (diagnosis.advice.empty()) text.Section("Advice", "nothing stands in the way");
  for (const Advice& advice : diagnosis.advice) {
    text.Paragraph(&advice == diagnosis.advice.data() ? "Advice" : "", advice.warning ? "! " : "- ",
                   Printable(advice.text));
  }
  return text.text();
}

}  // namespace vivace
