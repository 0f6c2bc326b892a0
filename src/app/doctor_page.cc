// The doctor's report as a page.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/doctor_report.h"
#include "measure/engine_report.h"
#include "measure/page.h"
#include "measure/svg_plot.h"

namespace vivace {
namespace {

constexpr double kGiga = 1e9;

// Two bars for each kind of measurement: one thread, and all where that is more than one.
void AddBars(const std::string& name, const Spread& one, const Spread& all, int threads,
             std::vector<HtmlBar>& bars) {
  const auto add = [&](const std::string& who, const Spread& spread) {
    bars.push_back({name + ", " + who, spread.median, ShortNumber(spread.median / kGiga)});
  };
  add("1 thread", one);
  if (threads > 1) add(fmt::format("{} threads", threads), all);
}

std::string ReadBars(const MachineLimits& limits) {
  std::vector<HtmlBar> bars;
  const auto add = [&](const char* name, const ReadSpeed& read) {
    if (read.error.empty()) {
      AddBars(name, read.one_thread, read.all_threads, limits.threads, bars);
    } else {
      bars.push_back({name, 0, read.error});
    }
  };
  add("2 MB pages", limits.huge_pages);
  add("4 kB pages", limits.small_pages);
  add("mapped file", limits.file);
  return HtmlBars(bars);
}

std::string PeakBars(const MachineLimits& limits) {
  std::vector<HtmlBar> bars;
  for (const TierPeak& peak : limits.int8) {
    AddBars(peak.tier, peak.one_thread, peak.all_threads, limits.threads, bars);
  }
  return HtmlBars(bars);
}

std::string AdviceList(const std::vector<Advice>& advice) {
  if (advice.empty()) return "<p>Nothing stands in the way.</p>";
  std::string html = "<ul>\n";
  for (const Advice& one : advice) {
    html += fmt::format("<li{}>{}</li>\n", one.warning ? " class=\"warning\"" : "",
                        HtmlEscape(one.text));
  }
  return html + "</ul>";
}

}  // namespace

std::string DoctorPage(const Diagnosis& diagnosis) {
  const MachineLimits& limits = diagnosis.limits;
  const std::vector<FactSection> sections = FactSections(diagnosis);
  const std::string& model = sections.front().lines.front();
  std::string body = fmt::format("<h1>{}</h1>\n<p>{}</p>\n", HtmlEscape(model),
                                 HtmlEscape(diagnosis.facts.system));
  body += "<div class=\"figures\">\n" + HtmlFigure("Memory is read at",
                                                   ShortNumber(limits.best_read() / kGiga), "GB/s",
                                                   "the limit of answers");
  for (const TierPeak& peak : limits.int8) {
    if (peak.tier != diagnosis.facts.tier) continue;
    body += HtmlFigure("int8 products", ShortNumber(peak.all_threads.median / kGiga), "GMAC/s",
                       "the limit of prompts");
  }
  body += HtmlFigure("Kernels", diagnosis.facts.tier.empty() ? "none" : diagnosis.facts.tier, "",
                     "the instruction set in use");
  body += HtmlFigure("Threads", std::to_string(limits.threads), "", "that compute");
  body += "</div>\n<div class=\"cards\">\n";
  body += HtmlCard("Advice", "What can be done, the important first.", AdviceList(diagnosis.advice),
                   CardWidth::kWhole);
  body += HtmlCard("Reading", "GB/s of a plain read with prefetch; medians.", ReadBars(limits));
  body += HtmlCard("Products", "int8 GMAC/s of each instruction set's dot step; medians.",
                   PeakBars(limits));
  std::vector<std::pair<std::string, std::string>> facts;
  facts.reserve(sections.size());
  for (const FactSection& section : sections) {
    facts.emplace_back(section.name, fmt::format("{}", fmt::join(section.lines, " · ")));
  }
  body += HtmlCard("Machine", "What the system tells.", HtmlFacts(facts), CardWidth::kWhole);
  return HtmlPage(model + ": doctor", body + "</div>\n");
}

}  // namespace vivace
