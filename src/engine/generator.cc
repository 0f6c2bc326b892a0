#include "engine/generator.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"
#include "kv/sequence_kv.h"

namespace vivace {
namespace {

constexpr double kPagesMs = 2000;

// Puts the events of a request together to its result.
class Collector {
 public:
  Collector(GenerateResult& result, const std::function<void(std::string_view)>& on_text)
      : result_(result), on_text_(on_text) {}

  void operator()(const AdmittedEvent& /*event*/) {}
  void operator()(const ProgressEvent& /*event*/) {}
  void operator()(const PromptTokenEvent& /*event*/) {}
  void operator()(const TokenEvent& event) {
    result_.tokens.push_back(event.choice.token);
    if (!event.choice.top.empty()) result_.logprobs.push_back(event.choice.top);
    Append(event.text);
  }
  void operator()(const DoneEvent& event) {
    Append(event.text);
    result_.finish_reason = event.reason;
    result_.stopping_word = event.stopping_word;
    result_.timings = event.timings;
  }

 private:
  void Append(std::string_view text) {
    if (text.empty()) return;
    on_text_(text);
    result_.text += text;
  }

  GenerateResult& result_;
  const std::function<void(std::string_view)>& on_text_;
};

}  // namespace

Result<std::unique_ptr<Generator>> Generator::Create(const Model& model, ThreadTeam& team,
                                                     const GeneratorOptions& options) {
  auto core = EngineCore::Create(model, team,
                                 {.context = options.context,
                                  .prompt_chunk = options.prompt_chunk,
                                  .max_running = 1,
                                  .prefetch = options.prefetch,
                                  .store = options.store,
                                  .speculation = options.speculation,
                                  .draft_model = options.draft_model});
  if (!core) return Failure(std::move(core).error());
  return std::unique_ptr<Generator>(new Generator(model, std::move(*core)));
}

Result<GenerateResult> Generator::Generate(const GenerateRequest& request,
                                           const std::stop_token& cancel,
                                           const std::function<void(std::string_view)>& on_text) {
  VIVACE_RETURN_IF_ERROR(core_->Check(request));
  GenerateResult result;
  Collector collect(result, on_text);
  core_->Add({.request = request,
              .sink = [&](const Event& event) { std::visit(collect, event); },
              .cancel = cancel,
              .arrival_ms = NowMs()});
  while (core_->Step()) {
  }
  return result;
}

Result<void> Generator::Evaluate(std::span<const TokenId> tokens, const LogitsSink& sink) {
  const auto length = static_cast<std::int64_t>(tokens.size());
  if (length > context()) {
    return Fail(ErrorKind::kBadInput,
                fmt::format("the text has {} tokens, allowed is up to {}", length, context()));
  }
  core_->Flush(kPagesMs);  // all pages are needed
  core_->cache().Clear();
  Stepper& stepper = core_->stepper();
  SequenceKv kv(core_->pool());
  VIVACE_RETURN_IF_ERROR(kv.Extend(length));
  const std::int64_t chunk = core_->options().prompt_chunk;
  std::vector<std::int64_t> rows(static_cast<std::size_t>(std::min(chunk, length)));
  std::iota(rows.begin(), rows.end(), 0);
  for (std::int64_t first = 0; first < length; first += chunk) {
    const std::int64_t count = std::min(chunk, length - first);
    const SequenceSlice slice = {.kv = &kv, .first_row = 0, .rows = count, .position = first};
    const auto part =
        tokens.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    stepper.Evaluate(
        {.tokens = part, .slices = {&slice, 1}, .output_rows = std::span(rows).first(part.size())});
    for (std::int64_t row = 0; row < count; row += Stepper::kLogitRows) {
      const std::int64_t batch = std::min(Stepper::kLogitRows, count - row);
      sink(first + row, batch, stepper.Logits(row, batch));
    }
  }
  return {};
}

}  // namespace vivace
