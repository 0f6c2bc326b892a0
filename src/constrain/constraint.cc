#include "constrain/constraint.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace vivace {
namespace {

// More than any step takes at once.
constexpr std::size_t kMostForced = 64;

}  // namespace

Constraint::Constraint(ConstraintSpec spec, const Tokenizer& tokenizer, std::size_t vocab_size)
    : spec_(std::move(spec)),
      tokenizer_(tokenizer),
      active_(!spec_.lazy),
      mask_((vocab_size + 31) / 32),
      forced_(kMostForced) {
  auto answer = spec_.grammar->compiled().Begin();
  if (!answer) {
    Fail(std::move(answer).error());
    return;
  }
  answer_ = std::move(*answer);
  complete_ = active_ && answer_->Complete();
}

void Constraint::Fail(Error error) {
  if (failure_) return;
  failure_ = Error{error.kind, "the grammar cannot be followed: " + error.message};
}

bool Constraint::MaskTakesWork() const {
  const bool forced = has_forced_ && accepted_ < forced_.size();
  return active_ && !failure_ && !has_mask_ && !forced;
}

TokenMask Constraint::Mask() {
  if (!active_ || failure_) return {};
  if (!has_mask_) {
    has_mask_ = true;
    if (const std::span<const TokenId> forced = Forced(); !forced.empty()) {
      std::ranges::fill(mask_, 0);
      const auto at = static_cast<std::size_t>(forced.front());
      mask_[at / 32] = 1U << (at % 32);
    } else if (auto done = answer_->Mask(mask_); !done) {
      Fail(std::move(done).error());
    }
  }
  if (failure_) return {};
  return mask_;
}

std::span<const TokenId> Constraint::Forced() {
  if (!active_ || failure_ || complete_) return {};
  if (!has_forced_) {
    has_forced_ = true;
    forced_.resize(kMostForced);
    forced_.resize(answer_->Forced(forced_));
    accepted_ = 0;
  }
  return std::span(forced_).subspan(accepted_);
}

void Constraint::Accept(TokenId token) {
  if (failure_) return;
  if (!active_) return AcceptFree(token);
  Consume({&token, 1});
}

void Constraint::Consume(std::span<const TokenId> tokens) {
  has_mask_ = false;
  // What was forced stays so: found anew from here, the same text might be cut otherwise.
  const bool as_forced = has_forced_ && tokens.size() == 1 && accepted_ < forced_.size() &&
                         forced_[accepted_] == tokens.front();
  if (as_forced) ++accepted_;
  has_forced_ = as_forced && accepted_ < forced_.size();
  if (auto done = answer_->Consume(tokens); !done) return Fail(std::move(done).error());
  complete_ = answer_->Complete();
}

// The text after the trigger in the same token belongs to the grammar as well.
void Constraint::AcceptFree(TokenId token) {
  const std::string_view piece = tokenizer_.IsControl(token) ? "" : tokenizer_.Piece(token);
  std::size_t longest = 1;
  bool patterns = false;
  for (const Trigger& trigger : spec_.triggers) {
    if (trigger.kind == Trigger::Kind::kToken && trigger.token == token) {
      active_ = true;
      return Consume({&token, 1});
    }
    longest = std::max(longest, trigger.word.size());
    patterns = patterns || trigger.kind == Trigger::Kind::kPattern;
  }
  tail_ += piece;
  if (const auto first = FindTrigger()) {
    active_ = true;
    return AcceptText(std::string_view(tail_).substr(*first));
  }
  // A pattern may look at all of it.
  if (!patterns && tail_.size() > longest) tail_.erase(0, tail_.size() - longest);
}

std::optional<std::size_t> Constraint::FindTrigger() const {
  std::size_t first = std::string::npos;
  for (const Trigger& trigger : spec_.triggers) {
    if (trigger.kind == Trigger::Kind::kWord) first = std::min(first, tail_.find(trigger.word));
    if (trigger.kind == Trigger::Kind::kPattern) {
      first = std::min(first, trigger.pattern->Find(tail_).value_or(std::string::npos));
    }
  }
  return first == std::string::npos ? std::nullopt : std::optional(first);
}

void Constraint::AcceptText(std::string_view text) {
  std::vector<TokenId> tokens;
  tokenizer_.Encode(text, Tokenizer::Special::kAsText, tokens);
  Consume(tokens);
}

}  // namespace vivace
