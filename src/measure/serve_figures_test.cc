#include "measure/serve_figures.h"

#include "gtest/gtest.h"

#include "measure/serve_page.h"
#include "measure/serve_report.h"

namespace vivace {
namespace {

ServeSample Sample(std::size_t workload, int round, double first_ms, std::size_t turn = 0) {
  ServeSample sample;
  sample.workload = workload;
  sample.round = round;
  sample.turn = turn;
  sample.answer.first_ms = first_ms;
  sample.answer.last_ms = first_ms + 100;
  sample.answer.gaps_ms = {40, 60};
  sample.answer.chunks = 3;
  sample.answer.tokens = 5;
  sample.answer.counted = TokenCount::kUsage;
  return sample;
}

ServeReport Report() {
  ServeReport report;
  report.options.workloads = *WorkloadsOf({"chat-short", "chat-multi-turn"});
  report.options.rounds = 2;
  ServeBenchResult result;
  for (const char* name : {"<b>ours</b>", "theirs"}) {
    ServeTargetResult target = {.target = {.name = name, .url = "http://x", .model = "m"},
                                .samples = {Sample(0, -1, 900), Sample(0, 0, 10), Sample(0, 1, 20),
                                            Sample(1, 0, 30), Sample(1, 0, 50, 1)},
                                .batch_s = {1, 3},
                                .cpu_s = 0.02};
    ServeSample failed = Sample(1, 1, 0);
    failed.answer.error = "HTTP 503: busy";
    target.samples.push_back(failed);
    result.targets.push_back(target);
  }
  report.servers = FiguresOf(result, report.options.workloads);
  report.machine.cpu.model = "Some CPU";
  return report;
}

TEST(QuantilesTest, AreBetweenNeighbours) {
  EXPECT_EQ(QuantilesOf({}).count, 0U);
  EXPECT_EQ(QuantilesOf({}).tail(), 0);
  const Quantiles one = QuantilesOf({7});
  EXPECT_EQ(one.p50, 7);
  EXPECT_EQ(one.p99, 7);
  std::vector<double> values;
  for (int i = 100; i >= 0; --i) values.push_back(i);
  const Quantiles all = QuantilesOf(values);
  EXPECT_DOUBLE_EQ(all.p50, 50);
  EXPECT_DOUBLE_EQ(all.p90, 90);
  EXPECT_DOUBLE_EQ(all.p99, 99);
  EXPECT_DOUBLE_EQ(all.tail(), 1.98);
  EXPECT_DOUBLE_EQ(QuantilesOf({1, 2}).p50, 1.5);
}

TEST(ServeFiguresTest, WarmUpAndFailuresAreKeptApart) {
  const ServeReport report = Report();
  const ServeServer& server = report.servers.front();
  EXPECT_EQ(server.all.requests, 5);
  EXPECT_EQ(server.all.errors, 1);
  EXPECT_EQ(server.all.first_ms, (std::vector<double>{10, 20, 30, 50}));
  EXPECT_EQ(server.warm_up_first.p50, 900);
  EXPECT_EQ(server.follow_first, std::vector<double>{50});
  EXPECT_EQ(server.all.round_first, (std::vector<double>{30, 20}));
  EXPECT_EQ(server.counted, "usage");
  EXPECT_DOUBLE_EQ(server.all.tokens_per_second(), 5);
  EXPECT_DOUBLE_EQ(server.client_cpu_pct, 0.5);
  EXPECT_FALSE(server.disturbs());
  ASSERT_EQ(server.problems.size(), 1U);
  EXPECT_EQ(server.problems[0].first, "HTTP 503: busy");
}

TEST(ServeReportTest, JsonHasOneObjectForEachServer) {
  const auto json = ServeJson(Report());
  ASSERT_EQ(json.size(), 2U);
  const auto& server = json[0];
  EXPECT_EQ(server["ttft_ms"]["count"], 4);
  EXPECT_EQ(server["ttft_short_ms"]["p50"], 15);
  EXPECT_EQ(server["ttft_follow_ms"]["p50"], 50);
  EXPECT_FALSE(server.contains("ttft_600_ms"));
  EXPECT_EQ(server["itl_ms"]["p50"], 50);
  EXPECT_EQ(server["workloads"].size(), 2U);
  EXPECT_EQ(server["problems"][0]["count"], 1);
}

TEST(ServeReportTest, TextAndPageShowEveryServer) {
  const ServeReport report = Report();
  const std::string text = ServeText(report);
  for (const char* part : {"chat-short: a short question", "first text, ms", "times better",
                           "theirs: 5 requests, 1 failed", "1 time: HTTP 503: busy"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
  const std::string page = ServePage(report);
  EXPECT_EQ(page.find("<b>ours"), std::string::npos);
  EXPECT_NE(page.find("&lt;b&gt;ours"), std::string::npos);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("nan"), std::string::npos);
}

TEST(ServeReportTest, NothingMeasuredIsNoCrash) {
  ServeReport report;
  report.options.workloads = *WorkloadsOf({});
  ServeBenchResult result;
  result.targets.push_back({.target = {.name = "x", .url = "http://x", .model = ""},
                            .samples = {},
                            .batch_s = std::vector<double>(8),
                            .cpu_s = 0});
  report.servers = FiguresOf(result, report.options.workloads);
  EXPECT_EQ(ServeJson(report)[0]["tok_s"]["p50"], 0);
  EXPECT_FALSE(ServeText(report).empty());
  EXPECT_EQ(ServePage(report).find("nan"), std::string::npos);
}

}  // namespace
}  // namespace vivace
