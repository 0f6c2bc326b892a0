// vivace eval --text: perplexity, and divergence from another model's run.
#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "app/commands.h"
#include "app/eval.h"
#include "machine/spread.h"
#include "measure/eval_stats.h"
#include "measure/quantiles.h"
#include "measure/reference_run.h"
#include "model/forward.h"
#include "sampling/probabilities.h"

namespace vivace {
namespace {

constexpr std::int64_t kTop = 256;

using Json = nlohmann::ordered_json;

// Sees the distribution before each scored token: keeps it, or compares it with a kept one.
class Reference {
 public:
  static Result<Reference> Open(const EvalFlags& flags, const ReferenceHead& head) {
    Reference reference;
    reference.top_ = static_cast<std::size_t>(head.top);
    if (!flags.save_run.empty()) {
      auto writer = ReferenceWriter::Create(flags.save_run, head);
      if (!writer) return Failure(std::move(writer).error());
      reference.writer_ = std::move(*writer);
    }
    if (flags.against.empty()) return reference;
    auto reader = ReferenceReader::Open(flags.against);
    if (!reader) return Failure(std::move(reader).error());
    const ReferenceHead& other = reader->head();
    if (other.text != head.text || other.window != head.window || other.tokens != head.tokens ||
        other.vocab != head.vocab) {
      return Fail(
          ErrorKind::kBadInput,
          fmt::format("{} is of another text or tokenizer: {} tokens in windows of {} of {} "
                      "words, here {}, {} and {}",
                      flags.against, other.tokens, other.window, other.vocab, head.tokens,
                      head.window, head.vocab));
    }
    reference.reader_ = std::move(*reader);
    return reference;
  }

  Result<void> Take(std::span<const float> logits) {
    if (writer_) writer_->Add(TopLogprobs(logits, top_));
    if (!reader_) return {};
    const auto other = reader_->Next();
    if (!other) return Failure(other.error());
    divergences_.push_back(DivergenceFrom(*other, logits));
    same_ += TopLogprobs(logits, 1)[0].token == (*other)[0].token ? 1 : 0;
    return {};
  }

  Result<void> Finish() { return writer_ ? writer_->Finish() : Result<void>(); }
  bool compares() const { return reader_.has_value(); }
  const std::string& other() const { return reader_->head().model; }
  const std::vector<double>& divergences() const { return divergences_; }
  double same_share() const {
    return divergences_.empty()
               ? 0
               : static_cast<double>(same_) / static_cast<double>(divergences_.size());
  }

 private:
  std::size_t top_ = 0;
  std::optional<ReferenceWriter> writer_;
  std::optional<ReferenceReader> reader_;
  std::vector<double> divergences_;
  std::int64_t same_ = 0;
};

// Minus the log-probabilities of a window's tokens but the first, added up.
Result<double> ScoreWindow(Generator& generator, std::span<const TokenId> window,
                           Reference& reference) {
  const auto vocab = static_cast<std::size_t>(generator.model().config().vocab_size);
  const std::int64_t stride = LogitsStride(generator.model().config());
  double nll = 0;
  Result<void> taken;
  VIVACE_RETURN_IF_ERROR(
      generator.Evaluate(window, [&](std::int64_t first, std::int64_t rows, const float* logits) {
        for (std::int64_t row = 0; row < rows && taken; ++row) {
          const auto next = static_cast<std::size_t>(first + row + 1);
          if (next >= window.size()) return;
          const std::span<const float> values(logits + row * stride, vocab);
          nll += LogSumExp(values) -
                 static_cast<double>(values[static_cast<std::size_t>(window[next])]);
          taken = reference.Take(values);
        }
      }));
  if (!taken) return Failure(taken.error());
  return nll;
}

std::uint64_t HashOf(std::span<const TokenId> ids) {
  std::uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  for (const TokenId id : ids) hash = (hash ^ static_cast<std::uint64_t>(id)) * 0x100000001B3;
  return hash;
}

struct TextPlan {
  std::vector<TokenId> ids;
  std::int64_t window = 0;
  std::int64_t windows = 0;
  std::string name;  // of the text and how it is cut

  std::int64_t tokens() const { return windows * window; }
  std::span<const TokenId> at(std::int64_t i) const {
    return std::span(ids).subspan(static_cast<std::size_t>(i * window),
                                  static_cast<std::size_t>(window));
  }
};

Result<TextPlan> PlanText(const EvalFlags& flags, const Model& model, const std::string& text) {
  TextPlan plan;
  model.tokenizer().Encode(text, Tokenizer::Special::kAsText, plan.ids);
  const auto tokens = std::min(flags.tokens, static_cast<std::int64_t>(plan.ids.size()));
  // Whole windows only, unless the text is shorter than one.
  plan.window = std::min(flags.window, tokens);
  plan.windows = plan.window < 2 ? 0 : tokens / plan.window;
  if (plan.windows == 0) {
    return Fail(ErrorKind::kBadInput, fmt::format("{} has {} tokens, at least 2 are needed",
                                                  flags.text, plan.ids.size()));
  }
  plan.ids.resize(static_cast<std::size_t>(plan.tokens()));
  plan.name = fmt::format("text {:016x}", HashOf(plan.ids));
  return plan;
}

Json DivergenceJson(const Reference& reference) {
  const Quantiles q = QuantilesOf(reference.divergences());
  const Interval mean = BootstrapInterval(reference.divergences());
  return {{"against", reference.other()},
          {"mean", q.mean},
          {"low", mean.low},
          {"high", mean.high},
          {"p50", q.p50},
          {"p90", q.p90},
          {"p99", q.p99},
          {"max", q.max},
          {"same_top", reference.same_share()}};
}

void Print(const EvalFlags& flags, const TextPlan& plan, const std::vector<double>& means,
           const Reference& reference) {
  const Interval mean = BootstrapInterval(means);
  const std::int64_t scored = plan.windows * (plan.window - 1);
  if (flags.json) {
    Json json = {{"mean_nll", mean.mean},   {"perplexity", std::exp(mean.mean)},
                 {"tokens", plan.tokens()}, {"scored", scored},
                 {"window", plan.window},   {"low", mean.low},
                 {"high", mean.high}};
    if (reference.compares()) json["kl"] = DivergenceJson(reference);
    std::cout << json.dump() << '\n';
    return;
  }
  fmt::print("mean NLL {:.5f} nats, perplexity {:.4f}, {} tokens in windows of {}\n", mean.mean,
             std::exp(mean.mean), plan.tokens(), plan.window);
  if (!reference.compares()) return;
  const Quantiles q = QuantilesOf(reference.divergences());
  fmt::print(
      "KL from {}: mean {:.6f} nats, 50 % {:.6f}, 99 % {:.6f}, largest {:.6f}; the likeliest "
      "token is the same in {:.2f} %\n",
      reference.other(), q.mean, q.p50, q.p99, q.max, 100 * reference.same_share());
}

}  // namespace

Result<int> EvalText(const EvalFlags& flags) {
  if (!flags.out.empty() && !(flags.save_run.empty() && flags.against.empty()))
    return Fail(ErrorKind::kBadInput, "--out cannot be used with --save-run and --against");
  std::ifstream file(flags.text, std::ios::binary);
  if (!file) return Fail(ErrorKind::kNotFound, flags.text + ": cannot be read");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  SessionFlags with = flags.session;
  with.context = std::max(with.context, flags.window);
  auto session = Session::Open(with);
  if (!session) return Failure(std::move(session).error());
  const auto plan = PlanText(flags, (*session)->model(), text);
  if (!plan) return Failure(plan.error());
  const std::int64_t vocab = (*session)->model().config().vocab_size;
  auto reference = Reference::Open(flags, {.model = (*session)->name(),
                                           .text = plan->name,
                                           .tokens = plan->tokens(),
                                           .window = plan->window,
                                           .vocab = vocab,
                                           .top = std::min(kTop, vocab)});
  if (!reference) return Failure(std::move(reference).error());
  auto log = EvalLog::Open(flags.out, HeadOf(**session, "text", "mean_nll", plan->name));
  if (!log) return Failure(std::move(log).error());
  const InterruptScope interrupt;
  ProgressLine progress;
  for (std::int64_t i = 0; i < plan->windows; ++i) {
    progress.Show(static_cast<double>(i) / static_cast<double>(plan->windows), "scoring");
    if (interrupt.interrupted()) return kExitInterrupted;
    const std::string name = fmt::format("window {:06}", i);
    if (log->Has(name)) continue;
    const auto score = ScoreWindow((*session)->generator(), plan->at(i), *reference);
    if (!score) return Failure(score.error());
    VIVACE_RETURN_IF_ERROR(log->Add(name, *score / static_cast<double>(plan->window - 1), {}));
  }
  progress.Wipe();
  VIVACE_RETURN_IF_ERROR(reference->Finish());
  Print(flags, *plan, log->values(), *reference);
  return 0;
}

}  // namespace vivace
