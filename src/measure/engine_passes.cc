#include "measure/engine_passes.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "model/forward.h"
#include "sampling/largest.h"

namespace vivace {

Result<std::unique_ptr<EnginePasses>> EnginePasses::Create(const Model& model, ThreadTeam& team,
                                                           const EngineBenchOptions& options,
                                                           const EngineBenchPlan& plan) {
  const Config& config = model.config();
  auto pool = PagePool::Create(
      {.layers = config.layers, .kv_heads = config.kv_heads, .dim = config.head_dim}, plan.pages);
  if (!pool) return Failure(std::move(pool).error());
  std::int64_t rows = 1;
  for (const std::int64_t sequences : options.batch) rows = std::max(rows, sequences);
  auto space = Workspace::Allocate(config, std::max(rows, options.prompt_chunk), team.size());
  if (!space) return Failure(std::move(space).error());
  const auto floats = static_cast<std::size_t>(rows * LogitsStride(config));
  auto logits = Buffer::Allocate(floats * sizeof(float), HugePages::kYes);
  if (!logits) return Failure(std::move(logits).error());
  std::unique_ptr<EnginePasses> passes(new EnginePasses(
      model, team, options.prompt_chunk, std::move(*pool), std::move(*space), std::move(*logits)));
  passes->Evaluate(passes->pattern_, plan.context);
  return passes;
}

// Ids all over the vocabulary: a text that repeats itself would have its embeddings cached.
TokenId EnginePasses::Token(std::int64_t position) const {
  return static_cast<TokenId>((position * 7919 + 13) % model_.config().vocab_size);
}

// Appends `count` tokens in chunks and computes the last one's logits.
void EnginePasses::Evaluate(SequenceKv& kv, std::int64_t count) {
  std::vector<TokenId> tokens;
  const std::int64_t end = kv.size() + count;
  while (kv.size() < end) {
    const std::int64_t position = kv.size();
    const std::int64_t rows = std::min(chunk_, end - position);
    tokens.clear();
    for (std::int64_t row = 0; row < rows; ++row) tokens.push_back(Token(position + row));
    VIVACE_CHECK(kv.Extend(rows).has_value(), "the plan counts all pages");
    const SequenceSlice slice = {.kv = &kv, .first_row = 0, .rows = rows, .position = position};
    const std::int64_t last = rows - 1;
    const std::span<const std::int64_t> output(&last, kv.size() == end ? 1 : 0);
    Forward(model_, {.tokens = tokens, .slices = {&slice, 1}, .output_rows = output}, space_,
            team_);
  }
  ComputeLogits(model_, 0, 1, space_, team_, logits_.As<float>().data());
}

std::vector<double> EnginePasses::Prompts(std::span<const std::int64_t> lengths) {
  SequenceKv kv(pool_);
  std::vector<double> seconds;
  const double start = NowMs();
  for (const std::int64_t length : lengths) {
    Evaluate(kv, length - kv.size());
    seconds.push_back((NowMs() - start) / 1000);
  }
  return seconds;
}

void EnginePasses::FillFrom(const SequenceKv& pattern, SequenceKv& kv, std::int64_t context) const {
  VIVACE_CHECK(kv.Extend(context).has_value(), "the plan counts all pages");
  const auto bytes = static_cast<std::size_t>(pool_.shape().page_size()) * sizeof(std::uint16_t);
  const std::span from = pattern.pages();
  for (std::size_t page = 0; page < kv.pages().size(); ++page) {
    std::memcpy(kv.pages()[page], from[page % from.size()], bytes);
  }
}

double EnginePasses::Decode(std::int64_t sequences, std::int64_t context, std::int64_t steps) {
  const auto count = static_cast<std::size_t>(sequences);
  const std::int64_t stride = LogitsStride(model_.config());
  const auto vocab = static_cast<std::size_t>(model_.config().vocab_size);
  std::vector<std::unique_ptr<SequenceKv>> kvs;
  std::vector<TokenId> tokens;
  std::vector<SequenceSlice> slices;
  std::vector<std::int64_t> output;
  for (std::int64_t row = 0; row < sequences; ++row) {
    kvs.push_back(std::make_unique<SequenceKv>(pool_));
    FillFrom(pattern_, *kvs.back(), context);
    tokens.push_back(Token(row));
    slices.push_back({.kv = kvs.back().get(), .first_row = row, .rows = 1, .position = context});
    output.push_back(row);
  }
  const double start = NowMs();
  for (std::int64_t step = 0; step < steps; ++step) {
    for (SequenceSlice& slice : slices) {
      slice.position = context + step;
      VIVACE_CHECK(slice.kv->Extend(1).has_value(), "the plan counts all pages");
    }
    Forward(model_, {.tokens = tokens, .slices = slices, .output_rows = output}, space_, team_);
    float* logits = logits_.As<float>().data();
    ComputeLogits(model_, 0, sequences, space_, team_, logits);
    for (std::size_t row = 0; row < count; ++row) {
      tokens[row] = ArgMax({logits + static_cast<std::int64_t>(row) * stride, vocab});
    }
  }
  return (NowMs() - start) / 1000;
}

}  // namespace vivace
