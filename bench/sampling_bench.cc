// Time to choose one token from a row of logits as large as Qwen2.5's.
#include <benchmark/benchmark.h>

#include "sampling/largest.h"
#include "sampling/probabilities.h"
#include "sampling/random.h"
#include "sampling/sampler.h"

namespace vivace {
namespace {

constexpr std::size_t kVocab = 151936;

// Nearly normal with standard deviation `width`; 20 tokens stand out by `lead`.
std::vector<float> MakeLogits(double width, double lead) {
  std::vector<float> logits(kVocab);
  for (std::size_t i = 0; i < kVocab; ++i) {
    double sum = -6;
    for (std::uint64_t k = 0; k < 12; ++k) sum += Uniform(1, i * 12 + k);
    logits[i] = static_cast<float>(sum * width);
  }
  for (std::size_t i = 0; i < 20; ++i) logits[i * 7000] += static_cast<float>(lead);
  return logits;
}

void Measure(benchmark::State& state, const SamplingParams& params, double lead = 15) {
  const std::vector<float> logits = MakeLogits(2.5, lead);
  Sampler sampler(params, kVocab);
  for (TokenId token = 0; token < 64; ++token) sampler.Accept(token * 7);
  std::uint64_t position = 0;
  for (auto _ : state) benchmark::DoNotOptimize(sampler.Sample(logits, position++));
}

SamplingParams Unfiltered() {
  SamplingParams params;
  params.top_k = 0;
  params.top_p = 1;
  params.min_p = 0;
  params.temperature = 1;
  return params;
}

void BM_Greedy(benchmark::State& state) {
  SamplingParams params;
  params.temperature = 0;
  Measure(state, params);
}

void BM_Default(benchmark::State& state) { Measure(state, {}); }

void BM_DefaultWithPenalties(benchmark::State& state) {
  SamplingParams params;
  params.repeat_penalty = 1.1F;
  Measure(state, params);
}

void BM_NoFilter(benchmark::State& state) { Measure(state, Unfiltered()); }

void BM_TopPOnly(benchmark::State& state) {
  SamplingParams params = Unfiltered();
  params.top_p = 0.95F;
  Measure(state, params);
}

void BM_MinPOnly(benchmark::State& state) {
  SamplingParams params = Unfiltered();
  params.min_p = 0.05F;
  Measure(state, params);
}

// Tens of thousands of tokens are needed to reach top-p: the worst case.
void BM_TopPOfFlatLogits(benchmark::State& state) {
  SamplingParams params = Unfiltered();
  params.top_p = 0.95F;
  Measure(state, params, 0);
}

void BM_TypicalOnly(benchmark::State& state) {
  SamplingParams params = Unfiltered();
  params.typical_p = 0.9F;
  Measure(state, params);
}

void BM_MakeSampler(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Sampler({}, kVocab));
}

void BM_LogSumExp(benchmark::State& state) {
  const std::vector<float> logits = MakeLogits(2.5, 15);
  for (auto _ : state) benchmark::DoNotOptimize(LogSumExp(logits));
}

void BM_TopLogprobs20(benchmark::State& state) {
  const std::vector<float> logits = MakeLogits(2.5, 15);
  for (auto _ : state) benchmark::DoNotOptimize(TopLogprobs(logits, 20));
}

BENCHMARK(BM_Greedy)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Default)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_DefaultWithPenalties)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_NoFilter)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_TopPOnly)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_MinPOnly)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_TopPOfFlatLogits)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_TypicalOnly)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_MakeSampler)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_LogSumExp)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_TopLogprobs20)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace vivace
