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

// Which of a part's rows have an output.
enum class Outputs : std::uint8_t {
  kOfTokens,  // those that tokens are chosen from
  kOfPrompt,  // all: they tell how likely the prompt is, too
  kOfStates,  // all: they become an embedding
};

Outputs OutputsOf(const StepPart& part) {
  const GenerateRequest& request = part.sequence->request();
  if (request.embed) return Outputs::kOfStates;
  const bool of_prompt = part.sequence->timings().decoded_tokens == 0;
  return request.score_prompt && of_prompt ? Outputs::kOfPrompt : Outputs::kOfTokens;
}

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
  masked_.reserve(Size(max_parts));
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
  // Output rows ascend, so what needs many of them comes last.
  for (const Outputs outputs : {Outputs::kOfTokens, Outputs::kOfPrompt, Outputs::kOfStates}) {
    for (StepPart& part : parts) {
      if (OutputsOf(part) == outputs) Prepare(part);
    }
  }
  const double start_ms = NowMs();
  StartMasks();
  Evaluate({.tokens = tokens_, .slices = slices_, .output_rows = output_rows_});
  evaluated_ms_ = NowMs();
  ScorePrompts();
  for (std::size_t first = 0; first < choosing_.size();) {
    std::size_t count = 0;
    // Between those that score their prompts lie rows of prompts.
    const auto reach = [&](const StepPart& part) {
      return part.first_output + part.outputs() - choosing_[first]->first_output;
    };
    while (first + count < choosing_.size() && reach(*choosing_[first + count]) <= kLogitRows) {
      ++count;
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
  part.first_row = static_cast<std::int64_t>(tokens_.size());
  slices_.push_back(
      {.kv = &kv, .first_row = part.first_row, .rows = part.rows, .position = position});
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  for (const DraftToken& entry : part.draft) tokens_.push_back(entry.token);
  const Outputs outputs = OutputsOf(part);
  if (outputs == Outputs::kOfStates) pooling_.push_back(&part);
  if (outputs == Outputs::kOfPrompt) scoring_.push_back(&part);
  const std::int64_t wanted =
      outputs != Outputs::kOfTokens ? part.rows : (part.chooses ? part.outputs() : 0);
  for (std::int64_t row = part.rows - wanted; row < part.rows; ++row) {
    output_rows_.push_back(part.first_row + row);
  }
  if (!part.chooses || outputs == Outputs::kOfStates) return;
  part.first_output = static_cast<std::int64_t>(output_rows_.size()) - part.outputs();
  choosing_.push_back(&part);
}

void Stepper::ComputeMasksAhead() { mask_ahead_ = std::make_unique<MaskAhead>(); }

void Stepper::StartMasks() {
  if (!mask_ahead_) return;
  masked_.clear();
  for (const StepPart* part : choosing_) {
    if (part->sequence->constrained()) masked_.push_back(part->sequence);
  }
  mask_ahead_->Start(masked_);
}

void Stepper::FinishMasks() {
  if (mask_ahead_) mask_ahead_->Finish();
}

void Stepper::ScorePrompts() {
  auto output = static_cast<std::int64_t>(output_rows_.size());
  for (const StepPart* part : pooling_) output -= part->rows;
  for (const StepPart* part : scoring_) output -= part->rows;
  for (const StepPart* part : scoring_) {
    Sequence& sequence = *part->sequence;
    // The row before the prompt's last token is the last that tells about one.
    const std::int64_t position = sequence.kv_size() - part->rows;
    const std::int64_t last = std::ssize(sequence.tokens()) - 1 - position;
    for (std::int64_t row = 0; row < part->rows; ++row) {
      if (row % kLogitRows == 0) {
        ComputeAll(output + row, output + std::min(row + kLogitRows, part->rows));
      }
      if (row < last) sequence.ScorePrompt(position + row + 1, Row(output + row));
    }
    output += part->rows;
  }
}

void Stepper::Pool() {
  auto row = static_cast<std::int64_t>(output_rows_.size());
  for (const StepPart* part : pooling_) row -= part->rows;
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
    FinishMasks();
    FindLargest(parts);
  } else {
    ComputeAll(parts.front()->first_output, parts.back()->first_output + parts.back()->outputs());
    FinishMasks();
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
