// Speed of encoding, in bytes a second. The vocabulary is a model's: VIVACE_BENCH_SPEC names a
// spec as JSON (tools/check_tokenizer.py leaves them in its cache); without it there is
// nothing to measure.
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "tokenizer/spec_json.h"
#include "tokenizer/tables.h"
#include "tokenizer/tokenizer.h"

namespace vivace {
namespace {

const std::vector<std::byte>& Tables() {
  static const std::vector<std::byte> kTables = [] {
    const char* path = std::getenv("VIVACE_BENCH_SPEC");
    if (path == nullptr) return std::vector<std::byte>();
    const auto owned = ReadSpecJson(path);
    if (!owned) return std::vector<std::byte>();
    return BuildTables((*owned)->spec).value_or(std::vector<std::byte>());
  }();
  return kTables;
}

void Open(benchmark::State& state) {
  if (Tables().empty()) return state.SkipWithError("VIVACE_BENCH_SPEC names no usable spec");
  for (auto _ : state) benchmark::DoNotOptimize(Tokenizer::Open(Tables()));
}
BENCHMARK(Open)->Unit(benchmark::kMicrosecond);

void Encode(benchmark::State& state, const char* sentence) {
  if (Tables().empty()) return state.SkipWithError("VIVACE_BENCH_SPEC names no usable spec");
  const auto tokenizer = Tokenizer::Open(Tables());
  std::string text;
  while (text.size() < 100'000) text += sentence;
  std::vector<TokenId> ids;
  for (auto _ : state) {
    ids.clear();
    tokenizer->Encode(text, Tokenizer::Special::kAsText, ids);
    benchmark::DoNotOptimize(ids.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
  state.counters["bytes/token"] =
      static_cast<double>(text.size()) / static_cast<double>(ids.size());
}
BENCHMARK_CAPTURE(Encode, english,
                  "The quick brown fox doesn't mind being 12 years old; it jumps over dogs.\n");
BENCHMARK_CAPTURE(Encode, code,
                  "  for (int i = 0; i < count; ++i) {\n    total += values[i];\n  }\n");
BENCHMARK_CAPTURE(Encode, chinese,
                  "\u4eca\u5929\u5929\u6c14\u5f88\u597d\uff0c\u6211\u4eec\u4e00\u8d77\u53bb\u516c"
                  "\u56ed\u6563\u6b65\u3002\u8bf7\u5199\u4e00\u7bc7\u5173\u4e8e\u4eba\u5de5\u667a"
                  "\u80fd\u7684\u6587\u7ae0\u3002\n");

}  // namespace
}  // namespace vivace
