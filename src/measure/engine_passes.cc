#include "measure/engine_passes.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "model/forward.h"

namespace vivace {
namespace {

// A plain text, for what the output head reads depends on how sure the model is.
constexpr std::string_view kText =
    "The river rises in the hills above the town and runs slowly to the sea. In spring it is "
    "high and brown, and the farmers watch it from the bridge; in summer children build dams of "
    "stones and branches, which the first storm of autumn carries away. A mill stood here for "
    "three hundred years. Its wheel is gone, but the pond remains, and herons come to it early "
    "in the morning. People say that the water remembers every boat that ever crossed it, and "
    "that on quiet evenings one can hear the oars. Nobody believes this, and everybody listens. ";

}  // namespace

EnginePasses::EnginePasses(const Model& model, ThreadTeam& team, std::int64_t chunk, PagePool pool,
                           Workspace space, TokenChooser chooser)
    : model_(model),
      team_(team),
      chunk_(chunk),
      pool_(std::move(pool)),
      space_(std::move(space)),
      chooser_(std::move(chooser)),
      promotion_(model.mapped_weights()),
      pattern_(pool_) {
  model.tokenizer().Encode(kText, Tokenizer::Special::kAsText, text_);
  if (text_.empty()) text_.push_back(0);
}

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
  auto chooser = TokenChooser::Create(model, team, rows);
  if (!chooser) return Failure(std::move(chooser).error());
  std::unique_ptr<EnginePasses> passes(new EnginePasses(
      model, team, options.prompt_chunk, std::move(*pool), std::move(*space), std::move(*chooser)));
  passes->Evaluate(passes->pattern_, plan.context);
  return passes;
}

PrefetchTuning EnginePasses::Settle(PrefetchTuning known) {
  known = FindPrefetch(known);
  Promote();
  return known;
}

PrefetchTuning EnginePasses::FindPrefetch(PrefetchTuning known) {
  while (!known.done()) {
    space_.SetPrefetch(known.distance());
    known.Record(1000 * Decode(1, pattern_.size(), 1).seconds);
  }
  space_.SetPrefetch(known.distance());
  return known;
}

std::size_t EnginePasses::Promote() {
  // The generator takes one piece after each token.
  while (promotion_.Step()) continue;
  return promotion_.promoted_bytes();
}

TokenId EnginePasses::Token(std::int64_t position) const {
  return text_[static_cast<std::size_t>(position) % text_.size()];
}

// Appends `count` tokens in chunks and chooses the one after them.
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
  TokenId next = 0;
  chooser_.Choose(space_, {&next, 1});
}

std::vector<Timed> EnginePasses::Prompts(std::span<const std::int64_t> lengths) {
  SequenceKv kv(pool_);
  std::vector<Timed> times;
  chooser_.TakeBytesRead();
  double output_bytes = 0;
  const double start = NowMs();
  for (const std::int64_t length : lengths) {
    Evaluate(kv, length - kv.size());
    output_bytes += chooser_.TakeBytesRead();
    times.push_back({.seconds = (NowMs() - start) / 1000, .output_bytes = output_bytes});
  }
  return times;
}

void EnginePasses::FillFrom(const SequenceKv& pattern, SequenceKv& kv, std::int64_t context) const {
  VIVACE_CHECK(kv.Extend(context).has_value(), "the plan counts all pages");
  const auto bytes = static_cast<std::size_t>(pool_.shape().page_size()) * sizeof(std::uint16_t);
  const std::span from = pattern.pages();
  for (std::size_t page = 0; page < kv.pages().size(); ++page) {
    std::memcpy(kv.pages()[page], from[page % from.size()], bytes);
  }
}

Timed EnginePasses::Decode(std::int64_t sequences, std::int64_t context, std::int64_t steps) {
  std::vector<std::unique_ptr<SequenceKv>> kvs;
  std::vector<TokenId> tokens;
  std::vector<SequenceSlice> slices;
  std::vector<std::int64_t> output;
  for (std::int64_t row = 0; row < sequences; ++row) {
    kvs.push_back(std::make_unique<SequenceKv>(pool_));
    FillFrom(pattern_, *kvs.back(), context);
    tokens.push_back(Token(context + 7 * row));  // sequences that soon differ
    slices.push_back({.kv = kvs.back().get(), .first_row = row, .rows = 1, .position = context});
    output.push_back(row);
  }
  chooser_.TakeBytesRead();
  const double start = NowMs();
  for (std::int64_t step = 0; step < steps; ++step) {
    for (SequenceSlice& slice : slices) {
      slice.position = context + step;
      VIVACE_CHECK(slice.kv->Extend(1).has_value(), "the plan counts all pages");
    }
    Forward(model_, {.tokens = tokens, .slices = slices, .output_rows = output}, space_, team_);
    chooser_.Choose(space_, tokens);
  }
  return {.seconds = (NowMs() - start) / 1000, .output_bytes = chooser_.TakeBytesRead()};
}

}  // namespace vivace
