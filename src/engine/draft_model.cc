#include "engine/draft_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/clock.h"
#include "model/page_shape.h"

namespace vivace {
namespace {

// Rows beside one step of the large model: a conversation is caught up with in some steps
// without a long one among them.
constexpr std::int64_t kCatchUpRows = 64;

// Vocabularies of one family differ by unused tokens at their end.
constexpr std::size_t kMostUnused = 512;

// Logits between the best token and the next best that make one level of confidence.
constexpr float kLevelLogits = 0.5F;

constexpr int kRestSteps = 64;

// What older drafts still count when another one is judged.
constexpr double kMemory = 0.9;

std::size_t Size(std::int64_t value) { return static_cast<std::size_t>(value); }

}  // namespace

Result<void> DraftModel::Check(const Model& model, const Model& draft) {
  const Tokenizer& own = model.tokenizer();
  const Tokenizer& other = draft.tokenizer();
  const auto [fewer, more] = std::minmax({own.vocab_size(), other.vocab_size()});
  if (more - fewer > kMostUnused) {
    return Fail(
        ErrorKind::kBadInput,
        fmt::format("the draft model has {} tokens and the model {}, allowed is a difference "
                    "of {}",
                    other.vocab_size(), own.vocab_size(), kMostUnused));
  }
  for (std::size_t i = 0; i < fewer; ++i) {
    const auto token = static_cast<TokenId>(i);
    if (own.Piece(token) == other.Piece(token)) continue;
    return Fail(ErrorKind::kBadInput,
                fmt::format("the draft model has another vocabulary: its token {} is \"{}\", "
                            "the model's is \"{}\"",
                            i, other.Piece(token), own.Piece(token)));
  }
  return {};
}

Result<std::unique_ptr<DraftModel>> DraftModel::Create(const Model& model, ThreadTeam& team,
                                                       std::int64_t context) {
  context = std::min(context, model.config().context);
  auto pool = PagePool::Create(PageShapeOf(model.config()), context / kPagePositions + 1);
  if (!pool) return Failure(std::move(pool).error());
  auto stepper = Stepper::Create(model, team, kCatchUpRows, 1, {});
  if (!stepper) return Failure(std::move(stepper).error());
  return std::unique_ptr<DraftModel>(
      new DraftModel(model, std::move(*pool), std::move(*stepper), context));
}

DraftModel::DraftModel(const Model& model, PagePool pool, Stepper stepper, std::int64_t context)
    : model_(model),
      context_(context),
      pool_(std::move(pool)),
      kv_(pool_),
      stepper_(std::move(stepper)) {
  read_.reserve(Size(context));
  draft_.reserve(Size(Drafter::kMostTokens));
  levels_.reserve(Size(Drafter::kMostTokens));
  for (std::size_t level = 0; level < kLevels; ++level) {
    counts_[level] = {.right = 1.6F + 0.24F * static_cast<float>(level), .all = 4};
  }
}

std::span<const DraftToken> DraftModel::Propose(std::span<const TokenId> tokens, std::int64_t most,
                                                double step_ms) {
  draft_.clear();
  levels_.clear();
  if (rest_ > 0) {
    --rest_;
    return {};
  }
  most =
      std::min({most, Drafter::kMostTokens, context_ - static_cast<std::int64_t>(tokens.size())});
  if (most <= 0 || !CatchUp(tokens)) return {};
  step_ms_ = step_ms;
  const double start_ms = NowMs();
  float reach = 1;
  for (;;) {
    const Guess guess = Best();
    reach *= counts_[guess.level].right / counts_[guess.level].all;
    draft_.push_back({.token = guess.token, .source = DraftSource::kModel, .reach = reach});
    levels_.push_back(guess.level);
    if (static_cast<std::int64_t>(draft_.size()) == most || reach * step_ms <= sweep_ms_) break;
    const double sweep_start_ms = NowMs();
    Read({&draft_.back().token, 1}, true);
    const double ms = NowMs() - sweep_start_ms;
    sweep_ms_ = sweep_ms_ == 0 ? ms : kMemory * sweep_ms_ + (1 - kMemory) * ms;
  }
  spent_ms_ = NowMs() - start_ms + sweep_ms_;
  return draft_;
}

void DraftModel::Judge(std::int64_t verified, std::int64_t right) {
  for (std::int64_t i = 0; i < std::min(verified, right + 1); ++i) {
    Count& count = counts_[levels_[Size(i)]];
    if (i < right) ++count.right;
    ++count.all;
    if (count.all >= 200) count = {.right = count.right / 2, .all = count.all / 2};
  }
  balance_ms_ = kMemory * balance_ms_ + static_cast<double>(right) * step_ms_ - spent_ms_;
  if (balance_ms_ >= -4 * step_ms_) return;
  rest_ = kRestSteps;
  balance_ms_ = 0;
}

bool DraftModel::CatchUp(std::span<const TokenId> tokens) {
  const auto in_vocabulary = [&](TokenId token) { return token < model_.config().vocab_size; };
  // The last one is always read: its logits are wanted.
  const auto before = tokens.first(tokens.size() - 1);
  const auto same =
      static_cast<std::size_t>(std::ranges::mismatch(read_, before).in1 - read_.begin());
  read_.resize(same);
  kv_.Truncate(static_cast<std::int64_t>(same));
  const std::span<const TokenId> missing = tokens.subspan(same);
  if (!std::ranges::all_of(missing, in_vocabulary)) return false;
  const bool all = missing.size() <= Size(kCatchUpRows);
  Read(all ? missing : missing.first(Size(kCatchUpRows)), all);
  return all;
}

void DraftModel::Read(std::span<const TokenId> tokens, bool chooses) {
  const auto rows = static_cast<std::int64_t>(tokens.size());
  const std::int64_t position = kv_.size();
  VIVACE_CHECK(kv_.Extend(rows).has_value(), "there are pages for a whole context");
  const SequenceSlice slice = {.kv = &kv_, .first_row = 0, .rows = rows, .position = position};
  const std::int64_t last = rows - 1;
  stepper_.Evaluate({.tokens = tokens,
                     .slices = {&slice, 1},
                     .output_rows = {&last, std::size_t{chooses ? 1U : 0U}}});
  read_.insert(read_.end(), tokens.begin(), tokens.end());
}

DraftModel::Guess DraftModel::Best() {
  const float* const logits = stepper_.Logits(0, 1);
  std::int64_t best = 0;
  float next = -std::numeric_limits<float>::infinity();
  for (std::int64_t i = 1; i < model_.config().vocab_size; ++i) {
    if (!(logits[i] > logits[best])) {
      next = std::max(next, logits[i]);
      continue;
    }
    next = logits[best];
    best = i;
  }
  const float levels = std::clamp((logits[best] - next) / kLevelLogits, 0.0F, kLevels - 1.0F);
  return {.token = static_cast<TokenId>(best),
          .level = std::isfinite(levels) ? static_cast<std::size_t>(levels) : 0};
}

}  // namespace vivace
