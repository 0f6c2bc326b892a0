#include "engine/sequence.h"

#include <algorithm>
#include <utility>

#include "base/unit_length.h"

namespace vivace {
namespace {

std::int64_t TokenLimit(const GenerateRequest& request, std::int64_t context) {
  if (request.shift) return request.max_tokens < 0 ? context : request.max_tokens;
  const std::int64_t room = context - static_cast<std::int64_t>(request.prompt.size());
  return request.max_tokens < 0 ? room : std::min(request.max_tokens, room);
}

// How likely the choice's token was by a plain softmax, and which ones were likeliest.
void Judge(std::span<const float> logits, std::size_t count, Choice& choice) {
  choice.top = TopLogprobs(logits, count);
  const auto total = static_cast<double>(choice.top.front().logit) - choice.top.front().logprob;
  choice.logprob = static_cast<double>(logits[static_cast<std::size_t>(choice.token)]) - total;
}

}  // namespace

const char* FinishReasonName(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
    case FinishReason::kStopString:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kCancelled:
      return "cancelled";
    case FinishReason::kFailed:
      return "error";
  }
  return "";
}

Sequence::Sequence(Submission submission, const Model& model, PagePool& pool, std::int64_t context,
                   std::shared_ptr<DraftKnowledge> knowledge)
    : submission_(std::move(submission)),
      model_(model),
      context_(context),
      limit_(TokenLimit(submission_.request, context)),
      tokens_(submission_.request.prompt),
      kv_(pool),
      sampler_(submission_.request.sampling, static_cast<std::size_t>(model.config().vocab_size),
               static_cast<bool>(submission_.request.constraint)),
      output_(model.tokenizer(), submission_.request.stop, submission_.request.min_indent,
              [this](std::string_view text) { piece_ += text; }),
      knowledge_(std::move(knowledge)) {
  const std::int64_t longest = std::min(length() + limit_, std::max(context, length()));
  tokens_.reserve(static_cast<std::size_t>(longest));
  if (submission_.request.embed) pooled_.resize(static_cast<std::size_t>(model.config().hidden));
  for (const TokenId token : tokens_) sampler_.Accept(token);
  if (const ConstraintSpec& spec = submission_.request.constraint; spec) {
    constraint_.emplace(spec, model.tokenizer(),
                        static_cast<std::size_t>(model.config().vocab_size));
  }
  if (knowledge_ && request().speculation && limit_ > 1) {
    drafter_.emplace(tokens_, longest, *knowledge_);
  }
  timings_.prompt_tokens = length();
  timings_.dropped_tokens = submission_.request.dropped;
}

std::int64_t Sequence::PagesAtMost(const GenerateRequest& request, std::int64_t context) {
  // The last token is not evaluated: nothing comes after it.
  const std::int64_t later = std::max(std::int64_t{0}, TokenLimit(request, context) - 1);
  const std::int64_t positions =
      std::min(static_cast<std::int64_t>(request.prompt.size()) + later, context);
  return (positions + kPagePositions - 1) / kPagePositions;
}

std::span<const DraftToken> Sequence::Draft() {
  if (!drafter_) return {};
  return drafter_->Propose(most_drafted());
}

std::span<const TokenId> Sequence::answer() const {
  const auto count = std::min(timings_.decoded_tokens, length());
  return std::span(tokens_).last(static_cast<std::size_t>(count));
}

void Sequence::Choose(std::span<const float> logits, Choice& choice) {
  const TokenMask mask = Mask();
  const std::span<const TokenId> forced = Forced();
  choice.token = forced.empty() ? sampler_.Sample(logits, position(), mask) : forced.front();
  choice.top.clear();
  if (request().logprobs == 0) return;
  if (request().logprobs_of_kept) {
    choice.top = sampler_.Kept(logits, position(), mask);
    const auto chosen = std::ranges::find(choice.top, choice.token, &TokenLogprob::token);
    choice.logprob = chosen == choice.top.end() ? 0 : chosen->logprob;
    choice.top.resize(std::min(choice.top.size(), request().logprobs));
    return;
  }
  Judge(logits, request().logprobs, choice);
}

bool Sequence::ChooseAbove(std::span<const float> logits, const HeadResult& found, float share,
                           Choice& choice) {
  auto token = sampler_.SampleAbove(logits, found.floor, position());
  if (token && !Allows(Mask(), *token)) token.reset();
  coarse_policy_.Judge(token.has_value(), share);
  if (!token) return false;
  choice.token = *token;
  choice.top.clear();
  ++timings_.coarse_tokens;
  timings_.coarse_candidates += found.candidates;
  return true;
}

void Sequence::Admitted(double now_ms) {
  admitted_ms_ = now_ms;
  timings_.queue_ms = now_ms - arrival_ms();
  submission_.sink(AdmittedEvent{.timings = timings_});
}

void Sequence::Progress(double now_ms) {
  timings_.prefill_ms = now_ms - admitted_ms_;
  submission_.sink(ProgressEvent{.evaluated = kv_.size(), .timings = timings_});
}

void Sequence::Shift() {
  const std::int64_t keep = std::clamp<std::int64_t>(request().keep, 0, context_ / 2);
  const std::int64_t dropped = std::max<std::int64_t>((length() - keep) / 2, 1);
  tokens_.erase(tokens_.begin() + keep, tokens_.begin() + keep + dropped);
  timings_.dropped_tokens += dropped;
  forced_ = 0;
}

void Sequence::Pool(std::span<const float> states) {
  for (std::size_t i = 0; i < states.size(); ++i) pooled_[i % pooled_.size()] += states[i];
}

void Sequence::ScorePrompt(std::int64_t position, std::span<const float> logits) {
  Choice choice = {.token = tokens_[static_cast<std::size_t>(position)], .logprob = 0, .top = {}};
  Judge(logits, std::max<std::size_t>(request().logprobs, 1), choice);
  submission_.sink(PromptTokenEvent{.choice = choice, .timings = timings_});
}

bool Sequence::Take(const Choice& choice, double now_ms, FinishReason& reason) {
  if (timings_.decoded_tokens == 0) {
    first_token_at_ms_ = now_ms;
    timings_.first_token_ms = now_ms - arrival_ms();
  }
  timings_.decode_ms = now_ms - first_token_at_ms_;
  forced_ = 0;
  if (Fails(reason)) return true;
  if (model_.tokenizer().IsEndOfGeneration(choice.token) && !request().ignore_end) {
    reason = FinishReason::kStop;
    return true;
  }
  if (std::ranges::find(request().stop_tokens, choice.token) != request().stop_tokens.end()) {
    stop_token_ = choice.token;
    reason = FinishReason::kStopString;
    return true;
  }
  return Append(choice, reason) || AppendForced(reason);
}

bool Sequence::Append(const Choice& choice, FinishReason& reason) {
  tokens_.push_back(choice.token);
  ++timings_.decoded_tokens;
  sampler_.Accept(choice.token);
  if (constraint_) constraint_->Accept(choice.token);
  if (drafter_) drafter_->Append(choice.token);
  const bool stopped = output_.Push(choice.token);
  submission_.sink(TokenEvent{.choice = choice, .text = piece_, .timings = timings_});
  has_line_break_ = has_line_break_ || piece_.find('\n') != std::string::npos;
  piece_.clear();
  const bool complete = constraint_ && constraint_->complete();
  const bool by_word = stopped && !output_.stopping_word().empty();
  reason = by_word    ? FinishReason::kStopString
           : complete ? FinishReason::kStop
                      : FinishReason::kLength;
  if (stopped || complete) return true;
  return Fails(reason) || timings_.decoded_tokens >= limit_ || TookTooLong();
}

// What the grammar leaves no choice about needs no logits: it is evaluated in one step with
// the token before it. Where logits are to be reported, all tokens are chosen; they are the
// same.
bool Sequence::AppendForced(FinishReason& reason) {
  if (!constraint_ || request().logprobs > 0) return false;
  const std::span<const TokenId> forced = Forced();
  forced_tokens_.assign(forced.begin(), forced.end());
  for (const TokenId token : forced_tokens_) {
    if (length() >= context_) break;
    ++forced_;
    ++timings_.forced_tokens;
    if (Append({.token = token, .logprob = 0, .top = {}}, reason)) return true;
  }
  return false;
}

bool Sequence::Fails(FinishReason& reason) const {
  if (!constraint_ || !constraint_->failure()) return false;
  reason = FinishReason::kFailed;
  return true;
}

bool Sequence::TookTooLong() const {
  const double most = request().max_decode_ms;
  return most > 0 && has_line_break_ && timings_.decode_ms > most;
}

void Sequence::Done(FinishReason reason) {
  finished_ = true;
  ScaleToUnitLength(pooled_);  // the mean and the sum have the same direction
  output_.Finish();
  if (reason == FinishReason::kLength && !output_.stopping_word().empty()) {
    reason = FinishReason::kStopString;  // completed by what was held back
  }
  const std::string_view word =
      stop_token_ ? model_.tokenizer().Piece(*stop_token_) : output_.stopping_word();
  std::string_view error;
  if (reason == FinishReason::kFailed) error = constraint_->failure()->message;
  submission_.sink(DoneEvent{.reason = reason,
                             .stopping_word = word,
                             .text = piece_,
                             .timings = timings_,
                             .embedding = pooled_,
                             .error = error});
}

}  // namespace vivace
