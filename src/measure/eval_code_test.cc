#include "measure/eval_code.h"

#include <cmath>
#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"

#include "measure/reference_run.h"
#include "measure/sandbox.h"

namespace vivace {
namespace {

const CodeTask kTask = {
    .id = "T/0",
    .prompt = "import math\n\ndef area(r):\n    \"\"\"Of a circle.\"\"\"\n",
    .test = "def check(candidate):\n    assert abs(candidate(1) - 3.14159) < 1e-3\n",
    .entry_point = "area"};

SandboxEnd RunFor(const std::string& program, const SandboxLimits& limits = {}) {
  const auto result = RunPython(program, limits, {});
  EXPECT_TRUE(result.has_value()) << result.error().message;
  return result ? result->end : SandboxEnd::kFailed;
}

TEST(EvalCodeTest, BlocksAreFound) {
  EXPECT_EQ(CodeBlock("x = 1"), "x = 1");
  EXPECT_EQ(CodeBlock("Here:\n```python\nx = 1\n```\nDone."), "x = 1\n");
  EXPECT_EQ(CodeBlock("```\nx = 1"), "x = 1");
  EXPECT_EQ(CodeBlock("```"), "");
}

TEST(EvalCodeTest, RightAnswersPassInAnyForm) {
  const std::string body = "    return math.pi * r * r\n";
  EXPECT_EQ(RunFor(ProgramOf(kTask, kTask.prompt + body, true)), SandboxEnd::kPassed);
  EXPECT_EQ(RunFor(ProgramOf(kTask, "```python\ndef area(r):\n" + body + "```", false)),
            SandboxEnd::kPassed);
  EXPECT_EQ(RunFor(ProgramOf(kTask, body, false)), SandboxEnd::kPassed);
  EXPECT_EQ(RunFor(ProgramOf(kTask, "    return r\n", false)), SandboxEnd::kFailed);
  EXPECT_EQ(RunFor(ProgramOf(kTask, "I do not know.", false)), SandboxEnd::kFailed);
}

TEST(SandboxTest, TellsWhatPythonSays) {
  const auto result = RunPython("raise ValueError('no')", {}, {});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->end, SandboxEnd::kFailed);
  EXPECT_EQ(result->last_line, "ValueError: no");
}

TEST(SandboxTest, LimitsHold) {
  EXPECT_EQ(RunFor("while True: pass", {.seconds = 0.3}), SandboxEnd::kTimedOut);
  EXPECT_EQ(RunFor("import time; time.sleep(60)", {.seconds = 0.3}), SandboxEnd::kTimedOut);
  EXPECT_EQ(RunFor("import os, time\nos.close(2)\ntime.sleep(60)", {.seconds = 0.3}),
            SandboxEnd::kTimedOut);
  EXPECT_EQ(RunFor("x = bytearray(2 << 30)"), SandboxEnd::kFailed);
  EXPECT_EQ(RunFor("open('f', 'wb').write(b'x' * (2 << 20))"), SandboxEnd::kFailed);
  EXPECT_EQ(RunFor("import sys; sys.exit(3)"), SandboxEnd::kFailed);
  EXPECT_EQ(RunFor("import os\nassert os.listdir() == ['program.py']"), SandboxEnd::kPassed);
}

TEST(SandboxTest, ThereIsNoNetworkWhereTheSystemAllowsThat) {
  const auto result = RunPython(
      "import socket\ntry:\n  socket.create_connection(('127.0.0.1', 9), 1)\n"
      "except OSError as e:\n  raise SystemExit(0 if e.errno == 101 else 1)",
      {}, {});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->end == SandboxEnd::kPassed, result->offline) << result->last_line;
}

class ReferenceRunTest : public ::testing::Test {
 protected:
  ~ReferenceRunTest() override { std::filesystem::remove(path_); }
  std::string path_ = std::filesystem::path(::testing::TempDir()) / "reference_run_test";
  std::vector<float> logits_ = {1, 3, 2, -1, 0.5F, 0};
};

TEST_F(ReferenceRunTest, ComesBackAsItWas) {
  const ReferenceHead head = {
      .model = "m", .text = "t", .tokens = 4, .window = 2, .vocab = 6, .top = 3};
  auto writer = ReferenceWriter::Create(path_, head);
  ASSERT_TRUE(writer.has_value());
  writer->Add(TopLogprobs(logits_, 3));
  EXPECT_FALSE(std::filesystem::exists(path_));
  ASSERT_TRUE(writer->Finish().has_value());
  auto reader = ReferenceReader::Open(path_);
  ASSERT_TRUE(reader.has_value()) << reader.error().message;
  EXPECT_EQ(reader->head().window, 2);
  const auto row = reader->Next();
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ((*row)[0].token, TopLogprobs(logits_, 3)[0].token);
  EXPECT_NEAR(DivergenceFrom(*row, logits_), 0, 1e-6);
  EXPECT_NE(reader->Next().error().message.find("ends before"), std::string::npos);
}

TEST_F(ReferenceRunTest, DivergenceIsTheTextbooks) {
  const std::vector<float> other = {0, 1, 2, 3, 4, 5};
  const double p_sum = LogSumExp(logits_);
  const double q_sum = LogSumExp(other);
  double expected = 0;
  for (std::size_t i = 0; i < logits_.size(); ++i) {
    const double log_p = logits_[i] - p_sum;
    expected += std::exp(log_p) * (log_p - (other[i] - q_sum));
  }
  EXPECT_NEAR(DivergenceFrom(TopLogprobs(logits_, 6), other), expected, 1e-6);
  // Over fewer tokens it is smaller, never negative.
  const double some = DivergenceFrom(TopLogprobs(logits_, 2), other);
  EXPECT_GT(some, 0);
  EXPECT_LT(some, expected);
}

TEST_F(ReferenceRunTest, OtherFilesAreRefused) {
  for (const char* text : {"", "{}\n", "hello\n", "{\"vivace_reference\":1}\n"}) {
    std::ofstream(path_) << text;
    EXPECT_FALSE(ReferenceReader::Open(path_).has_value()) << text;
  }
  EXPECT_EQ(ReferenceReader::Open("/nothing/there").error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace vivace
