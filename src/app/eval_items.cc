// What the kinds of evaluation share: items one by one, kept, resumed, summed up.
#include <cmath>
#include <iostream>

#include <fmt/format.h>

#include "app/commands.h"
#include "app/eval.h"
#include "app/human.h"
#include "chat/prompt.h"
#include "measure/eval_stats.h"

namespace vivace {

EvalHead HeadOf(const Session& session, std::string kind, std::string metric, std::string data) {
  const Fingerprint& source = session.model().fingerprint();
  return {.kind = std::move(kind),
          .metric = std::move(metric),
          .data = std::move(data),
          .model = session.name(),
          .model_hash = fmt::format("{:016x}{:016x}", source.sample[0], source.sample[1])};
}

namespace {

void PrintSummary(const EvalFlags& flags, const EvalLog& log, std::size_t all) {
  const std::vector<double> values = log.values();
  const Interval interval = IntervalOf(values);
  const EvalHead& head = log.run().head;
  if (flags.json) {
    std::cout << nlohmann::ordered_json({{"kind", head.kind},
                                         {"metric", head.metric},
                                         {"model", head.model},
                                         {head.metric, interval.mean},
                                         {"low", interval.low},
                                         {"high", interval.high},
                                         {"items", values.size()},
                                         {"of", all},
                                         {"resumed", log.resumed()}})
                     .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
              << '\n';
    return;
  }
  fmt::print("{} {:.4f} (95 % within {:.4f} to {:.4f}), {} of {} items{}\n", head.metric,
             interval.mean, interval.low, interval.high, values.size(), all,
             log.resumed() > 0 ? fmt::format(", {} from before", log.resumed()) : "");
}

}  // namespace

Result<int> RunEvalItems(const EvalFlags& flags, const EvalHead& head,
                         const std::vector<EvalItem>& items, const InterruptScope& interrupt) {
  auto log = EvalLog::Open(flags.out, head);
  if (!log) return Failure(std::move(log).error());
  ProgressLine progress;
  std::size_t done = 0;
  for (const EvalItem& item : items) {
    progress.Show(static_cast<double>(done++) / static_cast<double>(items.size()),
                  fmt::format("{} of {}: {}", done, items.size(), Printable(item.name)));
    if (log->Has(item.name)) continue;
    nlohmann::ordered_json more = nlohmann::ordered_json::object();
    const auto value = interrupt.interrupted()
                           ? Result<double>(Fail(ErrorKind::kCancelled, "interrupted"))
                           : item.run(more);
    if (!value && value.error().kind == ErrorKind::kCancelled) break;
    if (!value) return Context(value.error(), item.name);
    VIVACE_RETURN_IF_ERROR(log->Add(item.name, *value, more));
  }
  progress.Wipe();
  PrintSummary(flags, *log, items.size());
  return log->values().size() < items.size() ? kExitInterrupted : 0;
}

GenerateRequest GreedyRequest(std::vector<TokenId> prompt, std::int64_t max_tokens) {
  GenerateRequest request;
  request.prompt = std::move(prompt);
  request.sampling.temperature = 0;
  request.max_tokens = max_tokens;
  return request;
}

Result<std::string> GreedyAnswer(Session& session, const std::string& system,
                                 const std::string& question, std::int64_t max_tokens,
                                 const std::stop_token& cancel) {
  const auto chat = OpenChatTemplate(session.model(), "");
  if (!chat) return Failure(chat.error());
  ChatRequest request;
  if (!system.empty()) request.messages.push_back({.role = "system", .content = system});
  request.messages.push_back({.role = "user", .content = question});
  auto prompt = ChatPrompt(session.model(), *chat, request);
  if (!prompt) return Failure(std::move(prompt).error());
  const auto result = session.generator().Generate(GreedyRequest(*std::move(prompt), max_tokens),
                                                   cancel, [](std::string_view) {});
  if (!result) return Failure(result.error());
  if (result->finish_reason == FinishReason::kCancelled)
    return Fail(ErrorKind::kCancelled, "the evaluation was stopped");
  return result->text;
}

}  // namespace vivace
