#include "engine/generator.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"
#include "engine/text_output.h"
#include "model/forward.h"
#include "sampling/sampler.h"

namespace vivace {
namespace {

// Rows of logits handed out at once by Evaluate: 16 rows share one sweep of the head.
constexpr std::int64_t kLogitRows = 16;

// Moving the weights to huge pages takes as long as some 20 tokens, spread over as many
// steps as it has pieces: not for a program that says a sentence and ends.
constexpr std::int64_t kStepsBeforePromotion = 100;

Result<void> Check(const GenerateRequest& request, const Model& model, std::int64_t context) {
  VIVACE_RETURN_IF_ERROR(request.sampling.Validate());
  if (request.prompt.empty()) return Fail(ErrorKind::kBadInput, "the prompt has no tokens");
  const auto length = static_cast<std::int64_t>(request.prompt.size());
  if (length >= context) {
    return Fail(ErrorKind::kBadInput,
                fmt::format("the prompt has {} tokens, allowed is up to {}", length, context - 1));
  }
  for (const TokenId token : request.prompt) {
    if (token < 0 || token >= model.config().vocab_size) {
      return Fail(ErrorKind::kBadInput, fmt::format("token {} is out of range, allowed is 0 to {}",
                                                    token, model.config().vocab_size - 1));
    }
  }
  return {};
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
  }
  return "";
}

Result<std::unique_ptr<Generator>> Generator::Create(const Model& model, ThreadTeam& team,
                                                     const GeneratorOptions& options) {
  const Config& config = model.config();
  const PageShape shape = {
      .layers = config.layers, .kv_heads = config.kv_heads, .dim = config.head_dim};
  auto pool = PagePool::Create(shape, (options.context + kPagePositions - 1) / kPagePositions);
  if (!pool) return Failure(std::move(pool).error());
  const std::int64_t rows = std::max(options.prompt_chunk, kLogitRows);
  auto space = Workspace::Allocate(config, rows, team.size());
  if (!space) return Failure(std::move(space).error());
  const auto logits = static_cast<std::size_t>(kLogitRows * LogitsStride(config)) * sizeof(float);
  auto memory = Buffer::Allocate(logits, HugePages::kYes);
  if (!memory) return Failure(std::move(memory).error());
  return std::unique_ptr<Generator>(
      new Generator(model, team, options, std::move(*pool), std::move(*space), std::move(*memory)));
}

Generator::Generator(const Model& model, ThreadTeam& team, const GeneratorOptions& options,
                     PagePool pool, Workspace space, Buffer logits)
    : model_(model),
      team_(team),
      options_(options),
      pool_(std::move(pool)),
      space_(std::move(space)),
      logits_memory_(std::move(logits)),
      prefetch_(options.prefetch),
      promotion_(model.mapped_weights()),
      kv_(pool_) {
  space_.SetPrefetch(prefetch_.distance());
  if (model_.weights().coarse_head) head_search_.emplace(model_.weights(), 1, team_.size());
}

std::int64_t Generator::ReusePrefix(std::span<const TokenId> prompt) {
  // The last token is evaluated anyway: its logits are wanted.
  const std::size_t limit = std::min(prompt.size() - 1, cached_.size());
  std::size_t common = 0;
  while (common < limit && prompt[common] == cached_[common]) ++common;
  cached_.resize(common);
  kv_.Truncate(static_cast<std::int64_t>(common));
  return static_cast<std::int64_t>(common);
}

Result<void> Generator::Step(std::span<const TokenId> tokens,
                             std::span<const std::int64_t> output_rows) {
  const std::int64_t position = kv_.size();
  VIVACE_RETURN_IF_ERROR(kv_.Extend(static_cast<std::int64_t>(tokens.size())));
  const SequenceSlice slice = {.kv = &kv_,
                               .first_row = 0,
                               .rows = static_cast<std::int64_t>(tokens.size()),
                               .position = position};
  Forward(model_, {.tokens = tokens, .slices = {&slice, 1}, .output_rows = output_rows}, space_,
          team_);
  cached_.insert(cached_.end(), tokens.begin(), tokens.end());
  return {};
}

void Generator::Tune(double step_ms) {
  prefetch_.Record(step_ms);
  space_.SetPrefetch(prefetch_.distance());
  if (++decode_steps_ > kStepsBeforePromotion) promotion_.Step();
}

Result<void> Generator::Prefill(std::span<const TokenId> tokens, const std::stop_token& cancel) {
  const auto chunk = static_cast<std::size_t>(options_.prompt_chunk);
  while (!tokens.empty()) {
    if (cancel.stop_requested()) return Fail(ErrorKind::kCancelled, "cancelled");
    const auto part = tokens.first(std::min(chunk, tokens.size()));
    tokens = tokens.subspan(part.size());
    const std::int64_t last = static_cast<std::int64_t>(part.size()) - 1;
    const std::span<const std::int64_t> output(&last, tokens.empty() ? 1 : 0);
    VIVACE_RETURN_IF_ERROR(Step(part, output));
  }
  return {};
}

// The same token as from all logits, or nothing where that is not certain.
std::optional<TokenId> Generator::ChooseCoarsely(Sampler& sampler, GenerateTimings& timings) {
  const std::span<float> logits = logits_memory_.As<float>();
  const auto vocab = static_cast<std::size_t>(model_.config().vocab_size);
  HeadResult found;
  head_search_->Find(0, sampler.DepthNeeded(), space_, team_, logits.data(), {&found, 1});
  const auto token = sampler.SampleAbove(logits.first(vocab), found.floor, cached_.size());
  coarse_policy_.Judge(token.has_value(), found.read_share);
  if (token) {
    ++timings.coarse_tokens;
    timings.coarse_candidates += found.candidates;
  }
  return token;
}

TokenId Generator::Choose(const GenerateRequest& request, Sampler& sampler,
                          GenerateTimings& timings) {
  const bool coarse = head_search_ && request.logprobs == 0 && sampler.NeedsOnlyTheLargest();
  if (coarse && coarse_policy_.Try()) {
    if (const auto token = ChooseCoarsely(sampler, timings)) return *token;
  }
  float* logits = logits_memory_.As<float>().data();
  ComputeLogits(model_, 0, 1, space_, team_, logits);
  const auto vocab = static_cast<std::size_t>(model_.config().vocab_size);
  return sampler.Sample({logits, vocab}, cached_.size());
}

Result<void> Generator::Decode(const GenerateRequest& request, const std::stop_token& cancel,
                               Sampler& sampler, TextOutput& output, GenerateResult& result) {
  const Tokenizer& tokenizer = model_.tokenizer();
  const auto vocab = static_cast<std::size_t>(model_.config().vocab_size);
  const std::span<const float> logits(logits_memory_.As<float>().data(), vocab);
  const std::int64_t room = options_.context - result.timings.prompt_tokens;
  const std::int64_t limit = request.max_tokens < 0 ? room : std::min(request.max_tokens, room);
  result.finish_reason = FinishReason::kLength;
  while (static_cast<std::int64_t>(result.tokens.size()) < limit) {
    if (!result.tokens.empty()) {
      const TokenId last = result.tokens.back();
      sampler.Accept(last);
      constexpr std::int64_t kRow = 0;
      const double start = NowMs();
      VIVACE_RETURN_IF_ERROR(Step({&last, 1}, {&kRow, 1}));
      Tune(NowMs() - start);
    }
    const TokenId token = Choose(request, sampler, result.timings);
    if (result.tokens.empty()) result.timings.first_token_ms = NowMs() - start_ms_;
    if (tokenizer.IsEndOfGeneration(token) && !request.ignore_end) {
      result.finish_reason = FinishReason::kStop;
      return {};
    }
    result.tokens.push_back(token);
    if (request.logprobs > 0) result.logprobs.push_back(TopLogprobs(logits, request.logprobs));
    if (output.Push(token)) {
      result.finish_reason = FinishReason::kStopString;
      result.stopping_word = output.stopping_word();
      return {};
    }
    if (cancel.stop_requested()) {
      result.finish_reason = FinishReason::kCancelled;
      return {};
    }
  }
  return {};
}

Result<GenerateResult> Generator::Generate(const GenerateRequest& request,
                                           const std::stop_token& cancel,
                                           const std::function<void(std::string_view)>& on_text) {
  VIVACE_RETURN_IF_ERROR(Check(request, model_, options_.context));
  start_ms_ = NowMs();
  GenerateResult result;
  GenerateTimings& timings = result.timings;
  timings.prompt_tokens = static_cast<std::int64_t>(request.prompt.size());
  Sampler sampler(request.sampling, static_cast<std::size_t>(model_.config().vocab_size));
  for (const TokenId token : request.prompt) sampler.Accept(token);
  TextOutput output(model_.tokenizer(), request.stop, on_text);

  timings.cached_tokens = ReusePrefix(request.prompt);
  const auto rest =
      std::span(request.prompt).subspan(static_cast<std::size_t>(timings.cached_tokens));
  const auto prefilled = Prefill(rest, cancel);
  timings.prefill_ms = NowMs() - start_ms_;
  if (prefilled) {
    VIVACE_RETURN_IF_ERROR(Decode(request, cancel, sampler, output, result));
  } else if (prefilled.error().kind == ErrorKind::kCancelled) {
    result.finish_reason = FinishReason::kCancelled;
  } else {
    return Failure(prefilled.error());
  }
  output.Finish();
  result.text = output.text();
  timings.decoded_tokens = static_cast<std::int64_t>(result.tokens.size());
  timings.decode_ms = NowMs() - start_ms_ - std::max(timings.first_token_ms, timings.prefill_ms);
  return result;
}

Result<void> Generator::Evaluate(std::span<const TokenId> tokens, const LogitsSink& sink) {
  const auto length = static_cast<std::int64_t>(tokens.size());
  if (length > options_.context) {
    return Fail(ErrorKind::kBadInput, fmt::format("the text has {} tokens, allowed is up to {}",
                                                  length, options_.context));
  }
  cached_.clear();
  kv_.Truncate(0);
  std::vector<std::int64_t> rows;
  for (std::int64_t first = 0; first < length; first += options_.prompt_chunk) {
    const std::int64_t count = std::min(options_.prompt_chunk, length - first);
    rows.resize(static_cast<std::size_t>(count));
    for (std::int64_t row = 0; row < count; ++row) rows[static_cast<std::size_t>(row)] = row;
    const auto part =
        tokens.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    VIVACE_RETURN_IF_ERROR(Step(part, rows));
    for (std::int64_t row = 0; row < count; row += kLogitRows) {
      const std::int64_t batch = std::min(kLogitRows, count - row);
      float* logits = logits_memory_.As<float>().data();
      ComputeLogits(model_, row, batch, space_, team_, logits);
      sink(first + row, batch, logits);
    }
  }
  return {};
}

}  // namespace vivace
