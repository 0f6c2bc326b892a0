#include "measure/serve_batch.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "measure/serve_target.h"

namespace vivace {
namespace {

// How often a stop is looked for while no byte comes.
constexpr double kLookMs = 200;
constexpr int kOpenLoopRequests = 8;

// One client's chat: asks turn after turn.
class Chat {
 public:
  Chat(HttpLoop& loop, const ServeBatchPlan& plan, std::size_t client, double due_ms,
       std::vector<ServeSample>& samples)
      : loop_(loop),
        plan_(plan),
        chat_(MakeConversation(workload().kind,
                               {.run = plan.options->seed, .round = plan.round, .client = client})),
        due_ms_(due_ms),
        samples_(samples) {}

  double due_ms() const { return due_ms_; }
  bool done() const { return done_; }

  // `due_ms`: from when the time of the first turn counts.
  void Ask(double due_ms) {
    due_ms_ = due_ms;
    reader_ = AnswerReader();
    const ServeBenchOptions& options = *plan_.options;
    const std::int64_t tokens = options.max_tokens > 0 ? options.max_tokens : workload().max_tokens;
    loop_.Start({.url = plan_.target->url + "/v1/chat/completions",
                 .body = ChatBody(plan_.target->model, chat_, answers_, tokens),
                 .headers = AuthHeaders(options),
                 .silence_s = options.silence_s,
                 .on_bytes =
                     [this](const HttpCall::Head& head, std::string_view bytes) {
                       reader_.TakeBytes(head, bytes, NowMs() - due_ms_);
                     },
                 .on_end = [this](const HttpCall::End& end) { TakeAnswer(end); }});
  }

 private:
  const Workload& workload() const { return plan_.options->workloads[plan_.workload]; }

  void TakeAnswer(const HttpCall::End& end) {
    reader_.TakeEnd(end);
    ServeSample sample = {.workload = plan_.workload,
                          .round = plan_.round,
                          .turn = answers_.size(),
                          .answer = reader_.answer(),
                          .is_json = false};
    std::string text = std::move(sample.answer.text);
    sample.answer.text.clear();
    sample.is_json = nlohmann::json::accept(text);
    const bool failed = !sample.answer.error.empty();
    samples_.push_back(std::move(sample));
    answers_.push_back(std::move(text));
    done_ = failed || answers_.size() == chat_.turns.size();
    if (!done_) Ask(NowMs());
  }

  HttpLoop& loop_;
  const ServeBatchPlan& plan_;
  Conversation chat_;
  double due_ms_;
  std::vector<ServeSample>& samples_;
  std::vector<std::string> answers_;
  AnswerReader reader_;
  bool done_ = false;
};

}  // namespace

std::vector<double> DueTimes(const ServeBenchOptions& options, int round) {
  const bool open = options.rate > 0;
  const int usual = open ? kOpenLoopRequests : options.concurrency;
  std::vector<double> due(
      static_cast<std::size_t>(options.requests > 0 ? options.requests : usual));
  if (!open) return due;
  // Independent clients: exponential times between two of them.
  std::mt19937_64 random(options.seed + static_cast<std::uint64_t>(round + 1));
  double at = 0;
  for (double& moment : due) {
    moment = at;
    const double uniform = (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53;
    at -= 1000 * std::log(uniform) / options.rate;
  }
  return due;
}

std::string ChatBody(const std::string& model, const Conversation& chat,
                     const std::vector<std::string>& answers, std::int64_t max_tokens) {
  using Json = nlohmann::ordered_json;
  Json messages = Json::array();
  messages.push_back({{"role", "system"}, {"content", chat.system}});
  for (std::size_t turn = 0; turn <= answers.size() && turn < chat.turns.size(); ++turn) {
    messages.push_back({{"role", "user"}, {"content", chat.turns[turn]}});
    if (turn < answers.size())
      messages.push_back({{"role", "assistant"}, {"content", answers[turn]}});
  }
  return Json({{"model", model},
               {"messages", messages},
               {"max_tokens", max_tokens},
               {"temperature", 0},
               {"stream", true},
               {"stream_options", {{"include_usage", true}}}})
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

double RunServeBatch(HttpLoop& loop, const ServeBatchPlan& plan, const std::stop_token& cancel,
                     std::vector<ServeSample>& samples) {
  const bool open = plan.options->rate > 0;
  const std::vector<double> due = DueTimes(*plan.options, plan.round);
  std::vector<std::unique_ptr<Chat>> chats;  // those that were begun
  std::size_t next = 0;
  const double start = NowMs();
  const auto clients = static_cast<std::size_t>(plan.options->concurrency);
  while (!cancel.stop_requested()) {
    std::erase_if(chats, [](const auto& chat) { return chat->done(); });
    double wait = kLookMs;
    while (next < due.size()) {
      const double now = NowMs();
      const double moment = open ? start + due[next] : now;
      wait = std::clamp(moment - now, 0.0, kLookMs);
      if (open ? moment > now : chats.size() >= clients) break;
      chats.push_back(std::make_unique<Chat>(loop, plan, next++, moment, samples));
      chats.back()->Ask(moment);
    }
    if (chats.empty() && next == due.size()) break;
    loop.Poll(open && next < due.size() ? std::max(wait, 1.0) : kLookMs);
  }
  return (NowMs() - start) / 1000;
}

}  // namespace vivace
