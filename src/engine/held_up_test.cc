// Decoding with threads that are held up at random, in the kernels themselves: waiting
// threads do their work again, and no byte of an answer changes.
#include <chrono>
#include <random>
#include <thread>

#include "gtest/gtest.h"

#include "engine/core_testing.h"

namespace vivace {
namespace {

const KernelTable& Fast() { return **SelectKernels(""); }

// One call in 50 takes longer than others wait.
void Delay() {
  thread_local std::minstd_rand random(
      static_cast<unsigned>(std::hash<std::thread::id>()(std::this_thread::get_id())));
  if (random() % 50 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
}

// In compute.
void Multiply(const MatmulArgs& args) {
  Delay();
  Fast().matmul[static_cast<std::size_t>(QuantType::kQ8_0)](args);
}
void AttendChunk(const AttentionChunkArgs& args) {
  Fast().attention_chunk(args);
  Delay();
}
// In prepare.
void Norm(const float* x, const float* gain, float* out, std::int64_t size, float epsilon) {
  Fast().rms_norm(x, gain, out, size, epsilon);
  Delay();
}
// In publish.
void Add(const float* x, float* y, std::int64_t size) {
  Delay();
  Fast().add(x, y, size);
}

const KernelTable& Slow() {
  static const KernelTable table = [] {
    KernelTable slow = Fast();
    slow.matmul[static_cast<std::size_t>(QuantType::kQ8_0)] = Multiply;
    slow.attention_chunk = AttendChunk;
    slow.rms_norm = Norm;
    slow.add = Add;
    return slow;
  }();
  return table;
}

const Model& SlowModel() {
  static const TinyModel model(7, Slow());
  return model.model();
}

TEST(HeldUpTest, AnswersAreTheSame) {
  for (const int threads : {2, 3}) {
    Bench slow(Options(), threads, SlowModel());
    Bench alone(Options());
    for (std::uint32_t i = 0; i < 24; ++i) {
      EXPECT_TRUE(slow.Run(MixedRequest(i)).SameAnswer(alone.Run(MixedRequest(i)))) << i;
    }
    slow.ExpectNothingHeld();
  }
}

// Contexts long enough that threads share a head's chunks and merge them.
TEST(HeldUpTest, AnswersAfterLongContextsAreTheSame) {
  EngineOptions options = Options(400);
  options.context = 1024;
  Bench slow(options, 2, SlowModel());
  Bench alone(options);
  Outcome answers[2][3];
  for (std::uint32_t i = 0; i < 3; ++i) {
    GenerateRequest request = {.prompt = RandomTokens(500 + 130 * i, i), .max_tokens = 12};
    request.sampling = Greedy();
    request.ignore_end = true;
    slow.Add(request, answers[0][i]);
    alone.Add(std::move(request), answers[1][i]);
  }
  slow.Drain();
  alone.Drain();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(answers[0][i].tokens.size(), 12U);
    EXPECT_TRUE(answers[0][i].SameAnswer(answers[1][i])) << i;
  }
}

}  // namespace
}  // namespace vivace
