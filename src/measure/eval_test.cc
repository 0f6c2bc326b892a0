#include <cmath>
#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include <fmt/format.h>

#include "measure/csv_reader.h"
#include "measure/eval_run.h"
#include "measure/eval_stats.h"
#include "measure/eval_tasks.h"

namespace vivace {
namespace {

namespace fs = std::filesystem;

std::string Problem(const std::string& name, std::string_view text) {
  const auto file = ParseTasks(name, text);
  return file ? "none" : file.error().message;
}

TEST(CsvReaderTest, CellsAreAsTheFormatHasThem) {
  CsvReader reader("a,\"b, \"\"c\"\"\nd\",\r\n\n,x\ny");
  EXPECT_EQ(*reader.Next(), (std::vector<std::string>{"a", "b, \"c\"\nd", ""}));
  EXPECT_EQ(*reader.Next(), (std::vector<std::string>{"", "x"}));
  EXPECT_EQ(reader.line(), 4U);
  EXPECT_EQ(*reader.Next(), std::vector<std::string>{"y"});
  EXPECT_TRUE(reader.Next()->empty());
}

TEST(EvalTasksTest, ReadsEveryKindOfTable) {
  const auto mmlu = ParseTasks("x_test.csv", "What is 1+1?,1,2,3,4,B\n\"Two, three?\",a,b,c,d,D\n");
  ASSERT_TRUE(mmlu.has_value()) << mmlu.error().message;
  ASSERT_EQ(mmlu->choices.size(), 2U);
  EXPECT_EQ(mmlu->choices[0].answer, 1U);
  EXPECT_EQ(mmlu->choices[1].question, "Two, three?");
  const auto cmmlu = ParseTasks("x.csv", ",Question,A,B,C,D,Answer\n7,多少?,一,二,三,四,C\n");
  ASSERT_TRUE(cmmlu.has_value()) << cmmlu.error().message;
  EXPECT_EQ(cmmlu->choices[0].id, "7");
  EXPECT_EQ(cmmlu->choices[0].answer, 2U);
  const auto ceval = ParseTasks(
      "x.csv", "\xEF\xBB\xBFid,question,A,B,C,D,answer,explanation\n0,q,a,b,c,d,A,why\n");
  ASSERT_TRUE(ceval.has_value()) << ceval.error().message;
  EXPECT_EQ(ceval->choices[0].choices[3], "d");
}

TEST(EvalTasksTest, ReadsLinesOfJson) {
  const auto choices = ParseTasks(
      "x.jsonl",
      "{\"question\":\"q\",\"choices\":[\"a\",\"b\"],\"answer\":1}\n\n"
      "{\"id\":3,\"question\":\"r\",\"A\":\"a\",\"B\":\"b\",\"C\":\"c\",\"answer\":\"c\"}");
  ASSERT_TRUE(choices.has_value()) << choices.error().message;
  EXPECT_EQ(choices->choices[0].answer, 1U);
  EXPECT_EQ(choices->choices[1].id, "3");
  EXPECT_EQ(choices->choices[1].answer, 2U);
  const auto code = ParseTasks(
      "x.jsonl",
      R"({"task_id":"T/0","prompt":"def f():\n","test":"def check(c): pass","entry_point":"f"})");
  ASSERT_TRUE(code.has_value()) << code.error().message;
  EXPECT_EQ(code->programs[0].id, "T/0");
  EXPECT_EQ(ChoicePrompt(choices->choices[0]), "q\nA. a\nB. b\nAnswer:");
  EXPECT_TRUE(ChoicePreface(choices->choices)
                  .ends_with("\n\nq\nA. a\nB. b\nAnswer: B\n\n"
                             "r\nA. a\nB. b\nC. c\nAnswer: C\n\n"));
}

TEST(EvalTasksTest, SaysFileAndLine) {
  EXPECT_EQ(Problem("x.csv", "q,a,b,c,d,A\nq,a,b\n"),
            "x.csv:2: 3 columns, 6 are needed: question, the choices, answer");
  EXPECT_EQ(Problem("x.csv", "q,a,b,c,d,E\n"), "x.csv:1: the answer is \"E\", allowed is A to D");
  EXPECT_EQ(Problem("x.csv", "q,\"a\nb,c"), "x.csv:1: a quoted cell has no end");
  EXPECT_EQ(Problem("x.csv", "q,\"a\"b,c"), "x.csv:1: text follows the closing quote of a cell");
  EXPECT_EQ(Problem("x.csv", "question,A\n"),
            "x.csv:1: the header needs the columns question, A, B (and more) and answer");
  EXPECT_EQ(Problem("x.jsonl", "{\"question\":\"q\",\"choices\":[\"a\",\"b\"],\"answer\":0}\n{"),
            "x.jsonl:2: this is not one JSON object");
  EXPECT_EQ(Problem("x.jsonl", "{}"),
            "x.jsonl:1: neither \"question\" nor \"entry_point\" is there");
  EXPECT_EQ(Problem("x.jsonl", "{\"question\":\"q\",\"choices\":[1,2],\"answer\":0}"),
            "x.jsonl:1: a choice is not a string");
  EXPECT_EQ(Problem("x.jsonl", R"({"entry_point":"a b","prompt":"x","test":"y"})"),
            "x.jsonl:1: the entry_point is \"a b\", it must name a function");
  EXPECT_EQ(Problem("x.txt", "q"), "x.txt: the name ends in \".txt\", allowed are .csv and .jsonl");
  EXPECT_EQ(Problem("x.csv", "\n\n"), "x.csv: no task in it");
  EXPECT_EQ(Problem("x.csv", "id,question,A,B,answer\n1,q,a,b,A\n1,q,a,b,A\n"),
            "x.csv: the id \"1\" comes twice");
}

TEST(EvalStatsTest, WilsonIsAsPublished) {
  const Interval half = WilsonInterval(50, 100);
  EXPECT_NEAR(half.low, 0.4038, 1e-4);
  EXPECT_NEAR(half.high, 0.5962, 1e-4);
  EXPECT_EQ(WilsonInterval(0, 10).low, 0);
  EXPECT_NEAR(WilsonInterval(0, 10).high, 0.2775, 1e-4);
  EXPECT_DOUBLE_EQ(WilsonInterval(10, 10).high, 1);
  EXPECT_EQ(WilsonInterval(0, 0).high, 1);
}

TEST(EvalStatsTest, DifferencesAreFoundAndNoiseIsNot) {
  std::vector<double> a;
  std::vector<double> noisy;
  std::vector<double> better;
  for (int i = 0; i < 200; ++i) {
    const double value = std::sin(i * 12.9898) * 43758.5453;
    const double noise = value - std::floor(value) - 0.5;
    a.push_back(i % 7);
    noisy.push_back(i % 7 + noise);
    better.push_back(i % 7 + noise + 0.3);
  }
  EXPECT_FALSE(IsBeyondNoise(PairedDifference(a, noisy)));
  EXPECT_TRUE(IsBeyondNoise(PairedDifference(a, better)));
  EXPECT_FALSE(IsBeyondNoise(PairedDifference(a, a)));
  EXPECT_FALSE(IsBeyondNoise(PairedDifference({}, {})));
}

class EvalRunTest : public ::testing::Test {
 protected:
  EvalRunTest() { fs::remove(path_); }
  ~EvalRunTest() override { fs::remove(path_); }

  void Append(std::string_view text) const { std::ofstream(path_, std::ios::app) << text; }

  std::string path_ = fs::path(::testing::TempDir()) / "eval_run_test.jsonl";
  EvalHead head_ = {
      .kind = "choice", .metric = "accuracy", .data = "d", .model = "m", .model_hash = "h"};
};

TEST_F(EvalRunTest, GoesOnWhereItWas) {
  {
    auto log = EvalLog::Open(path_, head_);
    ASSERT_TRUE(log.has_value());
    ASSERT_TRUE(log->Add("a", 1, {{"choice", "B"}}).has_value());
  }
  Append("{\"item\":\"b\",\"val");  // cut by a power failure
  auto again = EvalLog::Open(path_, head_);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->resumed(), 1U);
  EXPECT_TRUE(again->Has("a"));
  EXPECT_FALSE(again->Has("b"));
  ASSERT_TRUE(again->Add("b", 0, {}).has_value());
  const auto run = ReadEvalRun(path_);
  ASSERT_TRUE(run.has_value()) << run.error().message;
  EXPECT_EQ(run->values, (std::map<std::string, double>{{"a", 1}, {"b", 0}}));
}

TEST_F(EvalRunTest, AnotherEvaluationsFileIsRefused) {
  ASSERT_TRUE(EvalLog::Open(path_, head_).has_value());
  EvalHead other = head_;
  other.data = "e";
  const auto refused = EvalLog::Open(path_, other);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("the data was d, now it is e"), std::string::npos);
  Append("what\n");
  EXPECT_NE(ReadEvalRun(path_).error().message.find(":2: this is not one JSON object"),
            std::string::npos);
}

TEST_F(EvalRunTest, RunsAreComparedOverCommonItems) {
  EvalRun a = {.path = "a", .head = head_, .values = {}};
  EvalRun b = a;
  EvalRun c = a;
  for (int i = 0; i < 60; ++i) {
    const std::string item = fmt::format("{}", i);
    a.values[item] = i % 2;
    b.values[item] = i % 2;
    if (i < 50) c.values[item] = 1;
  }
  const auto comparison = CompareRuns({a, b, c});
  ASSERT_TRUE(comparison.has_value());
  EXPECT_FALSE(comparison->rows[1].beyond_noise);
  EXPECT_TRUE(comparison->rows[2].beyond_noise);
  EXPECT_EQ(comparison->rows[2].common, 50U);
  EXPECT_DOUBLE_EQ(comparison->rows[2].difference, 0.5);
  c.head.data = "other";
  EXPECT_FALSE(CompareRuns({a, c}).has_value());
}

}  // namespace
}  // namespace vivace
