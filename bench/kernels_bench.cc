// Speed of every tier's kernels: products in GB/s of weights and GMAC/s, attention, float
// operations, packing. Memory-bound figures stand beside a plain read loop.
//
//   kernels_bench --benchmark_filter=avx2/Q5_0
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "kernels/dispatch.h"
#include "kernels/pack.h"
#include "kernels/packed_layout.h"
#include "kernels/testing.h"

namespace vivace {
namespace {

constexpr std::int64_t kInCache = 1 << 20;
constexpr std::int64_t kInMemory = 256 << 20;

// A packed matrix of about `bytes`, whose every byte is 0x25: ordinary scales and floats.
struct Matrix {
  Matrix(QuantType type, std::int64_t k, std::int64_t bytes)
      : shape(*PackedShapeOf(type, bytes / PackedShapeOf(type, 16, k)->group_bytes * 16, k)),
        weights(*Buffer::Allocate(static_cast<std::size_t>(shape.total_bytes), HugePages::kYes)) {
    std::memset(weights.data(), 0x25, weights.size());
  }
  PackedShape shape;
  Buffer weights;
};

struct Case {
  const KernelTable* kernels;
  QuantType type;
  std::int64_t k;
  std::int64_t bytes;
  std::int64_t rows;
};

void BenchMatmul(benchmark::State& state, const Case& c) {
  const Matrix matrix(c.type, c.k, c.bytes);
  std::mt19937 random(1);
  RandomActivations activations(c.rows, c.k, c.k, random);
  const std::int64_t width = matrix.shape.groups * kGroupRows;
  AlignedArray<float> out(static_cast<std::size_t>(c.rows * width));
  AlignedArray<std::byte> scratch(MatmulScratchBytes(c.k, c.rows));
  const MatmulKernel matmul = MatmulFor(*c.kernels, c.type);
  for (auto _ : state) {
    matmul({.weights = matrix.weights.data(),
            .group_bytes = matrix.shape.group_bytes,
            .group_begin = 0,
            .group_end = matrix.shape.groups,
            .k = c.k,
            .activations = activations.View(),
            .rows = c.rows,
            .out = out.data(),
            .out_stride = width,
            .prefetch = 2048,
            .scratch = scratch.data()});
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * matrix.shape.total_bytes);
  state.counters["GMAC/s"] =
      benchmark::Counter(static_cast<double>(state.iterations() * c.rows * width * c.k) / 1e9,
                         benchmark::Counter::kIsRate);
}

void BenchRead(benchmark::State& state) {
  const Matrix matrix(QuantType::kQ8_0, 1024, kInMemory);
  const auto words = std::span(reinterpret_cast<const std::uint64_t*>(matrix.weights.data()),
                               matrix.weights.size() / 8);
  for (auto _ : state) {
    std::uint64_t sums[16] = {};
    for (std::size_t i = 0; i + 16 <= words.size(); i += 16) {
      // As far ahead as the kernels; without it a core waits for each line.
      __builtin_prefetch(words.data() + i + 512);
      __builtin_prefetch(words.data() + i + 520);
      for (std::size_t lane = 0; lane < 16; ++lane) sums[lane] += words[i + lane];
    }
    benchmark::DoNotOptimize(sums);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(matrix.weights.size()));
}

// `rows` queries of 7 heads of 64 over one full chunk.
void BenchAttention(benchmark::State& state, const KernelTable& kernels, std::int64_t rows) {
  constexpr std::int64_t kHeads = 7;
  constexpr std::int64_t kDim = 64;
  AlignedArray<std::uint16_t> page(16 * kDim);
  std::vector<const std::uint16_t*> pages(8, page.data());
  const auto count = static_cast<std::size_t>(rows * kHeads);
  AlignedArray<float> q(count * kDim);
  AlignedArray<float> out(count * kDim);
  AlignedArray<float> max(count);
  AlignedArray<float> sum(count);
  for (auto _ : state) {
    kernels.attention_chunk({.q = q.data(),
                             .q_stride = kHeads * kDim,
                             .rows = rows,
                             .heads = kHeads,
                             .dim = kDim,
                             .keys = pages.data(),
                             .values = pages.data(),
                             .next_pages = 0,
                             .visible = 128,
                             .max = max.data(),
                             .sum = sum.data(),
                             .out = out.data()});
    benchmark::ClobberMemory();
  }
  state.counters["GMAC/s"] = benchmark::Counter(
      static_cast<double>(state.iterations() * rows * kHeads * kDim * 128 * 2) / 1e9,
      benchmark::Counter::kIsRate);
}

template <class Operation>
void RegisterFloats(const std::string& name, const Operation& operation) {
  benchmark::RegisterBenchmark(name.c_str(), [operation](benchmark::State& state) {
    constexpr std::int64_t kSize = 4864;
    AlignedArray<float> x(kSize);
    AlignedArray<float> y(kSize);
    AlignedArray<std::int32_t> sums(kSize);
    for (std::size_t i = 0; i < kSize; ++i) x[i] = static_cast<float>(i % 100) * 0.1F - 5.0F;
    for (auto _ : state) {
      operation(x.data(), y.data(), sums.data(), kSize);
      benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * kSize);
  });
}

void RegisterFloatKernels(const KernelTable& t) {
  const std::string prefix = std::string("float/") + t.name + "/";
  RegisterFloats(prefix + "quantize", [&t](float* x, float* y, std::int32_t* sums, std::int64_t n) {
    t.quantize(x, n, reinterpret_cast<std::int8_t*>(y), y + n / 2, sums, sums + n / 2);
  });
  RegisterFloats(prefix + "silu_mul", [&t](float* x, float* y, std::int32_t*, std::int64_t n) {
    t.silu_mul(x, x, y, n);
  });
}

void BenchPack(benchmark::State& state, QuantType type) {
  constexpr std::int64_t kRows = 1024;
  constexpr std::int64_t kColumns = 1024;
  std::mt19937 random(1);
  const std::vector<std::byte> source = RandomRows(type, kRows, kColumns, random);
  const PackedShape shape = *PackedShapeOf(type, kRows, kColumns);
  AlignedArray<std::byte> packed(static_cast<std::size_t>(shape.total_bytes));
  for (auto _ : state) {
    std::memset(packed.data(), 0, static_cast<std::size_t>(shape.total_bytes));
    for (std::int64_t group = 0; group < shape.groups; ++group) {
      PackGroup(shape, source.data(), kRows, kColumns, group,
                packed.data() + group * shape.group_bytes);
    }
  }
  state.SetBytesProcessed(state.iterations() * shape.total_bytes);
}

void RegisterMatmul(const std::string& name, const Case& c) {
  benchmark::RegisterBenchmark(name.c_str(), [c](benchmark::State& state) {
    BenchMatmul(state, c);
  })->Unit(benchmark::kMicrosecond);
}

void RegisterAll() {
  benchmark::RegisterBenchmark("read", BenchRead)->Unit(benchmark::kMicrosecond);
  for (const KernelTable* table : SupportedKernels()) {
    const std::string tier = table->name;
    for (const QuantType type : PackedTypes()) {
      const std::string name = tier + "/" + std::string(Name(type)) + "/";
      RegisterMatmul(name + "gemv_cache", {table, type, 1024, kInCache, 1});
      for (const std::int64_t rows : {1, 2, 4, 8, 16}) {
        RegisterMatmul(name + "memory_rows:" + std::to_string(rows),
                       {table, type, 1024, kInMemory, rows});
      }
      RegisterMatmul(name + "gemm", {table, type, 1024, 128 << 10, 512});
      RegisterMatmul(name + "gemm_long", {table, type, 4864, 256 << 10, 512});
    }
    for (const std::int64_t rows : {1, 64}) {
      benchmark::RegisterBenchmark(
          (tier + "/attention_rows:" + std::to_string(rows)).c_str(),
          [table, rows](benchmark::State& state) { BenchAttention(state, *table, rows); });
    }
    RegisterFloatKernels(*table);
  }
  for (const QuantType type : PackedTypes()) {
    benchmark::RegisterBenchmark(("pack/" + std::string(Name(type))).c_str(),
                                 [type](benchmark::State& state) { BenchPack(state, type); });
  }
}

}  // namespace
}  // namespace vivace

int main(int argc, char** argv) {
  vivace::RegisterAll();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
