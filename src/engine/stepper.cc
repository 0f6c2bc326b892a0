#include "engine/stepper.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/clock.h"

namespace vivace {
namespace {

// With more rows each one's own exact rows add up: 16 sampled rows were 10 to 20 % faster
// by full sweeps, 8 about as fast either way (Qwen2.5-0.5B, two cores of Zen 4).
constexpr std::size_t kMostCoarseRows = 8;

// Moving the weights to huge pages takes as long as some 20 tokens, spread over as many
// steps as it has pieces: not for a program that says a sentence and ends.
constexpr std::int64_t kStepsBeforePromotion = 100;

std::size_t Size(std::int64_t value) { return static_cast<std::size_t>(value); }

}  // namespace

Result<Stepper> Stepper::Create(const Model& model, ThreadTeam& team, std::int64_t max_rows,
                                std::int64_t max_parts, const PrefetchTuning& prefetch) {
  const Config& config = model.config();
  auto space = Workspace::Allocate(config, std::max(max_rows, kLogitRows), team.size());
  if (!space) return Failure(std::move(space).error());
  const std::size_t logits = Size(kLogitRows * LogitsStride(config)) * sizeof(float);
  auto memory = Buffer::Allocate(logits, HugePages::kYes);
  if (!memory) return Failure(std::move(memory).error());
  return Stepper(model, team, std::move(*space), std::move(*memory), max_parts, prefetch);
}

Stepper::Stepper(const Model& model, ThreadTeam& team, Workspace space, Buffer logits,
                 std::int64_t max_parts, const PrefetchTuning& prefetch)
    : model_(&model),
      team_(&team),
      space_(std::move(space)),
      logits_memory_(std::move(logits)),
      prefetch_(prefetch),
      promotion_(model.mapped_weights()),
      found_(Size(kLogitRows)),
      masks_(Size(kLogitRows)),
      chosen_(Size(kLogitRows)) {
  space_.SetPrefetch(prefetch_.distance());
  tokens_.reserve(Size(space_.max_rows));
  slices_.reserve(Size(max_parts));
  output_rows_.reserve(Size(space_.max_rows));
  choosing_.reserve(Size(max_parts));
  pooling_.reserve(Size(max_parts));
  if (model.weights().coarse_head) head_search_.emplace(model.weights(), kLogitRows, team.size());
}

void Stepper::Evaluate(const Batch& batch) { Forward(*model_, batch, space_, *team_); }

const float* Stepper::Logits(std::int64_t first, std::int64_t rows) {
  VIVACE_CHECK(rows <= kLogitRows, "more rows than there is memory for");
  float* logits = logits_memory_.As<float>().data();
  ComputeLogits(*model_, first, rows, space_, *team_, logits);
  return logits;
}

std::span<const float> Stepper::Row(std::size_t row) {
  const Config& config = model_->config();
  return logits_memory_.As<float>().subspan(row * Size(LogitsStride(config)),
                                            Size(config.vocab_size));
}

void Stepper::Run(std::span<StepPart> parts) {
  tokens_.clear();
  slices_.clear();
  output_rows_.clear();
  choosing_.clear();
  pooling_.clear();
  // Those that pool come last: the choosing ones' output rows are the first.
  for (const bool pools : {false, true}) {
    for (StepPart& part : parts) {
      if (part.sequence->request().embed == pools) Prepare(part);
    }
  }
  const double start_ms = NowMs();
  Evaluate({.tokens = tokens_, .slices = slices_, .output_rows = output_rows_});
  evaluated_ms_ = NowMs();
  for (std::size_t first = 0; first < choosing_.size(); first += Size(kLogitRows)) {
    const std::size_t count = std::min(Size(kLogitRows), choosing_.size() - first);
    Choose(static_cast<std::int64_t>(first), std::span(choosing_).subspan(first, count));
  }
  Pool();
  if (tokens_.size() == parts.size()) Tune(evaluated_ms_ - start_ms);
}

void Stepper::Prepare(StepPart& part) {
  SequenceKv& kv = part.sequence->kv();
  const std::int64_t position = kv.size();
  const auto tokens = part.sequence->tokens().subspan(Size(position), Size(part.rows));
  const auto extended = kv.Extend(part.rows);
  VIVACE_CHECK(extended.has_value(), "the pages of a running sequence are promised to it");
  const auto first_row = static_cast<std::int64_t>(tokens_.size());
  slices_.push_back({.kv = &kv, .first_row = first_row, .rows = part.rows, .position = position});
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  if (part.sequence->request().embed) {
    pooling_.push_back(&part);
    for (std::int64_t row = 0; row < part.rows; ++row) output_rows_.push_back(first_row + row);
  } else if (part.chooses) {
    output_rows_.push_back(first_row + part.rows - 1);
    choosing_.push_back(&part);
  }
}

void Stepper::Pool() {
  auto row = static_cast<std::int64_t>(choosing_.size());
  const std::size_t hidden = Size(model_->config().hidden);
  for (const StepPart* part : pooling_) {
    for (std::int64_t i = 0; i < part->rows; ++i, ++row) {
      part->sequence->Pool({space_.hidden_activations.x(row), hidden});
    }
  }
}

// The distance is that of products with one row, found where all steps do the same work.
void Stepper::Tune(double evaluation_ms) {
  if (tokens_.size() == 1) {
    prefetch_.Record(evaluation_ms);
    space_.SetPrefetch(prefetch_.distance());
  }
  if (++decode_steps_ > kStepsBeforePromotion) promotion_.Step();
}

void Stepper::Choose(std::int64_t first, std::span<StepPart* const> parts) {
  if (!TryCoarse(parts)) return ChooseFromAll(first, parts);
  ChooseCoarsely(first, parts);
  const std::span<std::uint8_t> chosen = std::span(chosen_).first(parts.size());
  const auto open = std::ranges::find(chosen, 0);
  if (open == chosen.end()) return;
  // One more sweep for all that are open, and for those between them.
  const auto begin = static_cast<std::size_t>(open - chosen.begin());
  std::size_t end = parts.size();
  while (chosen[end - 1] != 0) --end;
  ChooseFromAll(first + static_cast<std::int64_t>(begin), parts.subspan(begin, end - begin));
}

// All or none: a full sweep for some serves the others too.
bool Stepper::TryCoarse(std::span<StepPart* const> parts) const {
  if (!head_search_ || parts.size() > kMostCoarseRows) return false;
  const auto all = [&](auto&& test) {
    return std::ranges::all_of(parts, [&](StepPart* part) { return test(*part->sequence); });
  };
  return all([](const Sequence& sequence) { return sequence.NeedsOnlyTheLargest(); }) &&
         all([](Sequence& sequence) { return sequence.TriesCoarse(); });
}

template <class Function>
void Stepper::ForEachPart(std::size_t count, const Function& choose) {
  if (count == 1) return choose(std::size_t{0});
  team_->Run([&](TeamMember& member) {
    member.ForEachChunk(static_cast<std::int64_t>(count), 1,
                        [&](std::int64_t begin, std::int64_t end) {
                          for (std::int64_t i = begin; i < end; ++i) choose(Size(i));
                        });
  });
}

// Empty where there are none.
std::span<const TokenMask> Stepper::MasksOf(std::span<StepPart* const> parts) {
  const auto constrained = [](StepPart* part) { return part->sequence->constrained(); };
  if (std::ranges::none_of(parts, constrained)) return {};
  ForEachPart(parts.size(), [&](std::size_t i) { masks_[i] = parts[i]->sequence->Mask(); });
  return std::span(masks_).first(parts.size());
}

void Stepper::ChooseCoarsely(std::int64_t first, std::span<StepPart* const> parts) {
  float depth = 0;
  for (const StepPart* part : parts) depth = std::max(depth, part->sequence->DepthNeeded());
  head_search_->Find(first, depth, space_, *team_, logits_memory_.As<float>().data(),
                     std::span(found_).first(parts.size()), MasksOf(parts));
  // The rows share the coarse sweep, but each reads its exact rows for itself: what all of
  // them read counts against the one full sweep that they could have shared.
  const auto all_groups = static_cast<float>(model_->weights().output.groups());
  std::int64_t groups = 0;
  for (const HeadResult& result : std::span(found_).first(parts.size())) groups += result.groups;
  ForEachPart(parts.size(), [&](std::size_t i) {
    const float share =
        found_[i].read_share + static_cast<float>(groups - found_[i].groups) / all_groups;
    const bool chosen = parts[i]->sequence->ChooseAbove(Row(i), found_[i], share, parts[i]->choice);
    chosen_[i] = chosen ? 1 : 0;
  });
}

void Stepper::ChooseFromAll(std::int64_t first, std::span<StepPart* const> parts) {
  Logits(first, static_cast<std::int64_t>(parts.size()));
  ForEachPart(parts.size(),
              [&](std::size_t i) { parts[i]->sequence->Choose(Row(i), parts[i]->choice); });
}

}  // namespace vivace
