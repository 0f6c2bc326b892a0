#include "measure/serve_figures.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

namespace vivace {
namespace {

void Add(const ServeSample& sample, ServeFigures& figures) {
  const ChatAnswer& answer = sample.answer;
  ++figures.requests;
  if (!answer.error.empty()) {
    ++figures.errors;
    return;
  }
  figures.first_ms.push_back(answer.first_ms);
  figures.whole_ms.push_back(answer.last_ms);
  figures.gap_ms.insert(figures.gap_ms.end(), answer.gaps_ms.begin(), answer.gaps_ms.end());
  if (answer.rate() > 0) figures.rates.push_back(answer.rate());
  figures.tokens += answer.tokens;
  figures.chunks += answer.chunks;
  figures.prompt_tokens += answer.prompt_tokens;
  figures.json_answers += sample.is_json ? 1 : 0;
}

void Sort(ServeFigures& figures) {
  for (auto* values : {&figures.first_ms, &figures.gap_ms, &figures.whole_ms, &figures.rates}) {
    std::sort(values->begin(), values->end());
  }
}

std::vector<double> RoundMedians(const std::map<int, std::vector<double>>& rounds) {
  std::vector<double> medians;
  for (const auto& [round, values] : rounds) medians.push_back(QuantilesOf(values).p50);
  return medians;
}

// Every measured sample of one server, taken into its figures.
class Collector {
 public:
  Collector(ServeServer& server, std::size_t workloads) : server_(server), rounds_(workloads) {}

  void Take(const ServeSample& sample) {
    const ChatAnswer& answer = sample.answer;
    if (!answer.error.empty()) ++problems_[answer.error];
    if (sample.round < 0) {
      if (answer.error.empty()) warm_up_.push_back(answer.first_ms);
      return;
    }
    Add(sample, server_.all);
    Add(sample, server_.workloads[sample.workload]);
    if (!answer.error.empty()) return;
    rounds_[sample.workload][sample.round].push_back(answer.first_ms);
    all_rounds_[sample.round].push_back(answer.first_ms);
    if (sample.turn > 0) server_.follow_first.push_back(answer.first_ms);
    mixed_ = mixed_ || (counted_ && *counted_ != answer.counted);
    counted_ = answer.counted;
  }

  void Finish() {
    Sort(server_.all);
    server_.all.round_first = RoundMedians(all_rounds_);
    for (std::size_t i = 0; i < rounds_.size(); ++i) {
      Sort(server_.workloads[i]);
      server_.workloads[i].round_first = RoundMedians(rounds_[i]);
    }
    std::sort(server_.follow_first.begin(), server_.follow_first.end());
    server_.warm_up_first = QuantilesOf(warm_up_);
    server_.problems.assign(problems_.begin(), problems_.end());
    server_.counted = mixed_ ? "mixed" : TokenCountName(counted_.value_or(TokenCount::kChunks));
  }

 private:
  ServeServer& server_;
  std::vector<std::map<int, std::vector<double>>> rounds_;  // [workloads]
  std::map<int, std::vector<double>> all_rounds_;
  std::map<std::string, std::int64_t> problems_;
  std::vector<double> warm_up_;
  std::optional<TokenCount> counted_;
  bool mixed_ = false;
};

}  // namespace

std::vector<ServeServer> FiguresOf(const ServeBenchResult& result,
                                   const std::vector<Workload>& workloads) {
  std::vector<ServeServer> servers;
  for (const ServeTargetResult& one : result.targets) {
    ServeServer server;
    server.target = one.target;
    server.all.name = "all";
    for (std::size_t i = 0; i < workloads.size(); ++i) {
      ServeFigures& figures = server.workloads.emplace_back();
      figures.name = workloads[i].name;
      figures.seconds = one.batch_s[i];
    }
    server.all.seconds = std::accumulate(one.batch_s.begin(), one.batch_s.end(), 0.0);
    if (server.all.seconds > 0) server.client_cpu_pct = 100 * one.cpu_s / server.all.seconds;
    Collector collect(server, workloads.size());
    for (const ServeSample& sample : one.samples) collect.Take(sample);
    collect.Finish();
    servers.push_back(std::move(server));
  }
  return servers;
}

}  // namespace vivace
