#include "measure/engine_page.h"

#include "gtest/gtest.h"

#include "measure/page.h"
#include "measure/svg_plot.h"

namespace vivace {
namespace {

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::size_t Count(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

WorkPoint Point(std::int64_t size, double tokens_per_second) {
  WorkSamples samples = {.size = size, .work = {.tokens = 10, .bytes = 1e9, .products = 5e9}};
  for (const double factor : {1.0, 1.1, 0.9}) {
    samples.samples.push_back({.seconds = factor * 10 / tokens_per_second,
                               .output_bytes = 1e8,
                               .limit = {.bytes = 20e9, .products = 400e9}});
  }
  return samples.Point();
}

EngineReport Report() {
  EngineReport report = {.model = "<b>&\"model\"",
                         .architecture = "qwen2",
                         .kernels = "avx2",
                         .threads = 2,
                         .model_context = 4096,
                         .work = {.layer_bytes = 300000000, .output_bytes = 92000000},
                         .options = {},
                         .result = {},
                         .machine = {}};
  report.result.prompts = {Point(16, 40), Point(512, 80), Point(1024, 70)};
  report.result.main_prompt = 1;
  report.result.contexts = {Point(128, 50), Point(512, 45)};
  report.result.batches = {Point(1, 50), Point(4, 150)};
  report.result.read = {.median = 20e9, .min = 19e9, .max = 21e9};
  report.result.peak = {.median = 400e9, .min = 400e9, .max = 400e9};
  report.result.rounds = 3;
  report.machine.cpu.model = "Some CPU";
  return report;
}

TEST(NumbersTest, ThreeDigits) {
  EXPECT_EQ(ShortNumber(0), "0");
  EXPECT_EQ(ShortNumber(1.234), "1.23");
  EXPECT_EQ(ShortNumber(9.996), "10.0");
  EXPECT_EQ(ShortNumber(45.67), "45.7");
  EXPECT_EQ(ShortNumber(99.96), "100");
  EXPECT_EQ(ShortNumber(12345), "12345");
}

TEST(SvgPlotTest, LinearTicks) {
  EXPECT_EQ(NiceTicks({.title = "", .min = 0, .max = 100}, 5),
            (std::vector<double>{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ(NiceTicks({.title = "", .min = 0, .max = 0.7}, 5).size(), 4U);
}

TEST(SvgPlotTest, LogarithmicTicks) {
  EXPECT_EQ(NiceTicks({.title = "", .logarithmic = true, .min = 2, .max = 60}, 5),
            (std::vector<double>{2, 5, 10, 20, 50}));
  EXPECT_EQ(NiceTicks({.title = "", .logarithmic = true, .min = 0.5, .max = 2000}, 5),
            (std::vector<double>{1, 10, 100, 1000}));
}

TEST(SvgPlotTest, AxesHoldTheirValues) {
  const PlotAxis log = AxisFor("x", true, {16, 4096, 0});
  EXPECT_LT(log.min, 16);
  EXPECT_GT(log.min, 0);
  EXPECT_GT(log.max, 4096);
  const PlotAxis linear = AxisFor("y", false, {5, 10});
  EXPECT_EQ(linear.min, 0);
  EXPECT_GT(linear.max, 10);
  EXPECT_LT(AxisFor("y", true, {}).min, AxisFor("y", true, {}).max);
}

TEST(SvgPlotTest, LabelsDoNotCover) {
  const PlotAxis axis = {.title = "t", .min = 0, .max = 10};
  const PlotSeries series = {.style = "measured",
                             .points = {{.x = 5, .y = 5, .label = "first"},
                                        {.x = 5, .y = 5, .label = "second"},
                                        {.x = 5, .y = 5, .label = "third"}}};
  const std::string svg = SvgPlot("name", axis, axis, {series});
  EXPECT_TRUE(Has(svg, ">first<"));
  EXPECT_TRUE(Has(svg, ">second<")) << "below the point";
  EXPECT_FALSE(Has(svg, ">third<"));
  EXPECT_EQ(Count(svg, "<circle"), 3U);
  EXPECT_FALSE(Has(svg, "nan"));
}

TEST(EnginePageTest, IsSelfContainedAndEscaped) {
  const std::string page = EnginePage(Report());
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(Has(page, "&lt;b&gt;&amp;&quot;model&quot;"));
  EXPECT_FALSE(Has(page, "<b>&\"model"));
  for (const char* outside : {"http:", "https:", "<script", "<link", "<img", "url(", "@import"}) {
    EXPECT_FALSE(Has(page, outside)) << outside;
  }
  EXPECT_EQ(Count(page, "<svg"), 4U);
  EXPECT_EQ(Count(page, "<svg"), Count(page, "</svg>"));
  EXPECT_EQ(Count(page, "<section"), Count(page, "</section>"));
  EXPECT_FALSE(Has(page, "nan"));
  EXPECT_TRUE(Has(page, "prefers-color-scheme: dark"));
}

TEST(EngineReportTest, JsonHasTheMainFiguresWithTheirRange) {
  const auto json = EngineJson(Report());
  for (const char* name : {"prefill_tok_s", "decode_tok_s", "decode_gb_s", "roofline_gb_s",
                           "roofline_pct", "int8_peak_gmac_s", "prefill_peak_pct"}) {
    ASSERT_TRUE(json.contains(name)) << name;
    EXPECT_LE(json[name]["min"], json[name]["median"]) << name;
    EXPECT_LE(json[name]["median"], json[name]["max"]) << name;
  }
  EXPECT_EQ(json["prefill_tok_s"]["median"], 80);
  EXPECT_EQ(json["decode_tok_s"]["median"], 50);
  EXPECT_EQ(json["model"]["bytes_per_token"], 392000000);
  EXPECT_EQ(json["prefill"].size(), 3U);
  EXPECT_EQ(json["batch"][1]["sequences"], 4);
  EXPECT_EQ(json["machine"]["cpu"], "Some CPU");
}

TEST(EngineReportTest, TextHasALineForEachPoint) {
  const std::string text = EngineText(Report());
  for (const char* part : {"prompt of 512", "answer after 128", "1 answer at once",
                           "4 answers at once", "Some CPU", "300 MB of layers, 10 of 92 MB"}) {
    EXPECT_TRUE(Has(text, part)) << part;
  }
}

}  // namespace
}  // namespace vivace
