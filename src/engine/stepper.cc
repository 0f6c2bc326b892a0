#include "engine/stepper.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/clock.h"

namespace vivace {
namespace {

// With more rows each one's own exact rows add up: 16 sampled rows were 10 to 20 % faster
// by full sweeps, 8 about as fast either way (Qwen2.5-0.5B, two cores of Zen 4).
constexpr std::int64_t kMostCoarseRows = 8;

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
  scoring_.reserve(Size(max_parts));
  open_.reserve(Size(max_parts));
  if (model.weights().coarse_head) head_search_.emplace(model.weights(), kLogitRows, team.size());
}

void Stepper::Evaluate(const Batch& batch) { Forward(*model_, batch, space_, *team_); }

const float* Stepper::Logits(std::int64_t first, std::int64_t rows) {
  VIVACE_CHECK(rows <= kLogitRows, "more rows than there is memory for");
  float* logits = logits_memory_.As<float>().data();
  ComputeLogits(*model_, first, rows, space_, *team_, logits);
  return logits;
}

std::span<const float> Stepper::Row(std::int64_t output) {
  const Config& config = model_->config();
  return logits_memory_.As<float>().subspan(Size((output - first_logits_) * LogitsStride(config)),
                                            Size(config.vocab_size));
}

void Stepper::Run(std::span<StepPart> parts, const Taker& take) {
  tokens_.clear();
  slices_.clear();
  output_rows_.clear();
  choosing_.clear();
  pooling_.clear();
  scoring_.clear();
  // Those that pool come last: the choosing ones' output rows are the first.
  for (const bool pools : {false, true}) {
    for (StepPart& part : parts) {
      if (part.sequence->request().embed == pools) Prepare(part);
    }
  }
  for (const StepPart* part : scoring_) {
    for (std::int64_t row = 0; row < part->rows; ++row) {
      output_rows_.push_back(part->first_row + row);
    }
  }
  const double start_ms = NowMs();
  Evaluate({.tokens = tokens_, .slices = slices_, .output_rows = output_rows_});
  evaluated_ms_ = NowMs();
  ScorePrompts();
  for (std::size_t first = 0; first < choosing_.size();) {
    std::size_t count = 0;
    std::int64_t rows = 0;
    while (first + count < choosing_.size() &&
           rows + choosing_[first + count]->outputs() <= kLogitRows) {
      rows += choosing_[first + count++]->outputs();
    }
    Choose(std::span(choosing_).subspan(first, count), take);
    first += count;
  }
  Pool();
  if (tokens_.size() == parts.size()) Tune(evaluated_ms_ - start_ms);
}

void Stepper::Prepare(StepPart& part) {
  SequenceKv& kv = part.sequence->kv();
  const std::int64_t position = kv.size();
  const auto drafted = static_cast<std::int64_t>(part.draft.size());
  const auto tokens = part.sequence->tokens().subspan(Size(position), Size(part.rows - drafted));
  const auto extended = kv.Extend(part.rows);
  VIVACE_CHECK(extended.has_value(), "the pages of a running sequence are promised to it");
  const auto first_row = static_cast<std::int64_t>(tokens_.size());
  part.first_row = first_row;
  slices_.push_back({.kv = &kv, .first_row = first_row, .rows = part.rows, .position = position});
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  for (const DraftToken& entry : part.draft) tokens_.push_back(entry.token);
  if (part.sequence->request().embed) {
    pooling_.push_back(&part);
    for (std::int64_t row = 0; row < part.rows; ++row) output_rows_.push_back(first_row + row);
  } else if (part.chooses) {
    part.first_output = static_cast<std::int64_t>(output_rows_.size());
    for (std::int64_t row = part.rows - part.outputs(); row < part.rows; ++row) {
      output_rows_.push_back(first_row + row);
    }
    choosing_.push_back(&part);
  }
  const bool of_answer = part.sequence->timings().decoded_tokens > 0;
  if (part.sequence->request().score_prompt && !of_answer) scoring_.push_back(&part);
}

// Their rows come last among those with an output: see Run.
void Stepper::ScorePrompts() {
  auto output = static_cast<std::int64_t>(output_rows_.size());
  for (const StepPart* part : scoring_) output -= part->rows;
  for (const StepPart* part : scoring_) {
    Sequence& sequence = *part->sequence;
    const std::int64_t position = sequence.kv_size() - part->rows;
    for (std::int64_t done = 0; done < part->rows; done += kLogitRows, output += kLogitRows) {
      const std::int64_t rows = std::min(kLogitRows, part->rows - done);
      ComputeAll(output, output + rows);
      for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t next = position + done + row + 1;
        if (std::cmp_less(next, sequence.tokens().size())) {
          sequence.ScorePrompt(next, Row(output + row));
        }
      }
    }
    output -= (kLogitRows - part->rows % kLogitRows) % kLogitRows;
  }
}

void Stepper::Pool() {
  std::int64_t row = 0;
  for (const StepPart* part : choosing_) row += part->outputs();
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

void Stepper::Choose(std::span<StepPart* const> parts, const Taker& take) {
  open_.assign(parts.begin(), parts.end());
  coarse_ = TryCoarse(parts);
  if (coarse_) {
    FindLargest(parts);
  } else {
    ComputeAll(parts.front()->first_output, parts.back()->first_output + parts.back()->outputs());
  }
  while (!open_.empty()) {
    ChooseRound(open_);
    for (StepPart* part : open_) Advance(*part, take);
    std::erase_if(open_, [](const StepPart* part) { return !part->open; });
  }
}

// One token for each.
void Stepper::ChooseRound(std::span<StepPart* const> parts) {
  ForEachPart(parts.size(), [&](std::size_t i) { chosen_[i] = ChooseOne(*parts[i]) ? 1 : 0; });
  const std::span<std::uint8_t> chosen = std::span(chosen_).first(parts.size());
  if (std::ranges::find(chosen, 0) == chosen.end()) return;
  // One more sweep, for all that are open: the tokens to come need it no less.
  std::int64_t first = parts.front()->output();
  for (const StepPart* part : parts) first = std::min(first, part->output());
  ComputeAll(first, parts.back()->first_output + parts.back()->outputs());
  ForEachPart(parts.size(), [&](std::size_t i) {
    if (chosen[i] == 0) ChooseOne(*parts[i]);
  });
}

// False: the largest logits are not enough.
bool Stepper::ChooseOne(StepPart& part) {
  Sequence& sequence = *part.sequence;
  const std::span<const float> logits = Row(part.output());
  if (!coarse_) {
    sequence.Choose(logits, part.choice);
    return true;
  }
  // The rows share the coarse sweep, but each reads its exact rows for itself: what all of
  // them read counts against the one full sweep that they could have shared.
  const HeadResult& found = found_[Size(part.output() - first_logits_)];
  const auto all_groups = static_cast<float>(model_->weights().output.groups());
  const float share =
      found.read_share + static_cast<float>(groups_read_ - found.groups) / all_groups;
  return sequence.ChooseAbove(logits, found, share, part.choice);
}

// Gives a choice to its sequence and finds out whether the draft went the same way.
void Stepper::Advance(StepPart& part, const Taker& take) {
  Sequence& sequence = *part.sequence;
  const std::size_t before = sequence.tokens().size() - Size(part.right);
  part.open = take(part);
  // A grammar may have added more than the token that was chosen.
  const std::span<const TokenId> come = sequence.tokens().subspan(before);
  const auto drafted = static_cast<std::int64_t>(part.draft.size());
  while (part.right < std::min(drafted, static_cast<std::int64_t>(come.size())) &&
         come[Size(part.right)] == part.draft[Size(part.right)].token) {
    ++part.right;
  }
  // Only where all that has come since was drafted is there a row for the next token.
  part.open = part.open && part.right == static_cast<std::int64_t>(come.size());
  if (!part.open) sequence.kv().Truncate(sequence.kv().size() - drafted + part.right);
}

// All or none: a full sweep for some serves the others too.
bool Stepper::TryCoarse(std::span<StepPart* const> parts) const {
  const std::int64_t rows =
      parts.back()->first_output + parts.back()->outputs() - parts.front()->first_output;
  if (!head_search_ || rows > kMostCoarseRows) return false;
  const auto all = [&](auto&& test) {
    return std::ranges::all_of(parts, [&](StepPart* part) { return test(*part->sequence); });
  };
  // Drafted rows are searched without a mask. Where the largest logit decides it is enough to
  // look whether that is allowed.
  const auto unmasked = [](const StepPart* part) {
    return !part->draft.empty() && part->sequence->constrained() &&
           part->sequence->DepthNeeded() > 0;
  };
  return std::ranges::none_of(parts, unmasked) &&
         all([](const Sequence& sequence) { return sequence.NeedsOnlyTheLargest(); }) &&
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

// Of the rows of found_, or empty where there are none. Only of each part's first row: what may
// come after its next token is known only with that.
std::span<const TokenMask> Stepper::MasksOf(std::span<StepPart* const> parts) {
  const auto constrained = [](StepPart* part) { return part->sequence->constrained(); };
  if (std::ranges::none_of(parts, constrained)) return {};
  std::ranges::fill(masks_, TokenMask());
  ForEachPart(parts.size(), [&](std::size_t i) {
    masks_[Size(parts[i]->first_output - first_logits_)] = parts[i]->sequence->Mask();
  });
  return masks_;
}

void Stepper::FindLargest(std::span<StepPart* const> parts) {
  float depth = 0;
  for (const StepPart* part : parts) depth = std::max(depth, part->sequence->DepthNeeded());
  first_logits_ = parts.front()->first_output;
  const std::int64_t rows = parts.back()->first_output + parts.back()->outputs() - first_logits_;
  const auto found = std::span(found_).first(Size(rows));
  const auto masks = MasksOf(parts);
  head_search_->Find(first_logits_, depth, space_, *team_, logits_memory_.As<float>().data(), found,
                     masks.empty() ? masks : masks.first(Size(rows)));
  groups_read_ = 0;
  for (const HeadResult& result : found) groups_read_ += result.groups;
}

// Of output rows [first, end).
void Stepper::ComputeAll(std::int64_t first, std::int64_t end) {
  Logits(first, end - first);
  first_logits_ = first;
  coarse_ = false;
}

}  // namespace vivace
