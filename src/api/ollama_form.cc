#include "api/ollama_form.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "api/model_defaults.h"
#include "api/model_options.h"
#include "api/openai_form.h"
#include "api/sampling_fields.h"
#include "api/structure_fields.h"
#include "base/clock.h"

namespace vivace {
namespace {

constexpr double kLongestSeconds = 3e9;  // 95 years; in nanoseconds, times after it still fit

std::int64_t Nanoseconds(double ms) { return static_cast<std::int64_t>(std::llround(ms * 1e6)); }

Json TokenJson(const Tokenizer& tokenizer, TokenId token, double logprob) {
  return {{"token", TokenText(tokenizer, token)},
          {"logprob", FiniteLogprob(logprob)},
          {"bytes", TokenBytes(tokenizer, token)}};
}

Json EmptyAnswer(const std::string& model, OllamaKind kind, std::string_view text) {
  Json answer = {{"model", model}, {"created_at", Rfc3339(std::chrono::system_clock::now())}};
  if (kind == OllamaKind::kGenerate) {
    answer["response"] = text;
  } else {
    answer["message"] = {{"role", "assistant"}, {"content", text}};
  }
  answer["done"] = false;
  return answer;
}

// Arguments are an object here: nothing where they are none, or not complete.
std::optional<Json> CallJson(const ToolCall& call) {
  auto arguments = ParseJson(call.complete ? call.arguments : "");
  if (!arguments || !arguments->is_object()) return std::nullopt;
  return Json{{"function", {{"name", call.name}, {"arguments", std::move(*arguments)}}}};
}

// Such a call as the text that it was: no client takes half a call for a whole one.
std::string WrittenCall(const ToolCall& call) {
  return fmt::format("{{\"name\": {}, \"arguments\": {}", Dump(call.name), call.arguments);
}

class OllamaFormat : public ReplyFormat {
 public:
  OllamaFormat(OllamaKind kind, std::string model, double start_ms, double load_ms,
               std::int64_t top_logprobs)
      : kind_(kind),
        model_(std::move(model)),
        start_ms_(start_ms),
        load_ms_(load_ms),
        top_logprobs_(top_logprobs) {}

  http::Response Whole(std::span<const Outcome> outcomes) override {
    const Outcome& outcome = outcomes.front();
    std::string text;
    Json calls;
    for (const Segment& segment : SegmentsOf(outcome)) {
      const auto call = segment.call == nullptr ? std::nullopt : CallJson(*segment.call);
      if (call) calls.push_back(*call);
      if (!call)
        text += segment.call == nullptr ? std::string(segment.text) : WrittenCall(*segment.call);
    }
    Json answer = Last(outcome, text, outcome.steps);
    if (!calls.is_null()) answer["message"]["tool_calls"] = std::move(calls);
    return JsonResponse(answer);
  }

  http::StreamHead Head() override { return http::JsonLines(); }

  void Next(const Part& part, std::string& out) override {
    Json line = EmptyAnswer(model_, kind_, part.text);
    AddLogprobs(part.steps, line);
    Add(line, out);
  }

  // Before the last line: clients look for calls in those that are not the last.
  void CallEnds(const Outcome& outcome, std::string& out) override {
    const auto call = CallJson(outcome.calls.back());
    Json line = EmptyAnswer(model_, kind_, call ? "" : WrittenCall(outcome.calls.back()));
    if (call) line["message"]["tool_calls"] = Json::array({*call});
    Add(line, out);
  }

  void End(const Outcome& outcome, std::string& out) override {
    if (!outcome.calls.empty() && !outcome.calls.back().complete) CallEnds(outcome, out);
    Add(Last(outcome, "", {}), out);
  }

  void Fail(const ApiError& error, std::string& out) override {
    Add(ErrorJson(Dialect::kOllama, error), out);
  }

 private:
  Json Last(const Outcome& outcome, std::string_view text, std::span<const Choice> steps) const {
    const GenerateTimings& t = outcome.timings;
    Json answer = EmptyAnswer(model_, kind_, text);
    AddLogprobs(steps, answer);
    answer["done"] = true;
    answer["done_reason"] = outcome.reason == FinishReason::kLength ? "length" : "stop";
    if (kind_ == OllamaKind::kGenerate) answer["context"] = Context(outcome);
    answer["total_duration"] = Nanoseconds(NowMs() - start_ms_);
    answer["load_duration"] = Nanoseconds(load_ms_);
    answer["prompt_eval_count"] = t.prompt_tokens;
    answer["prompt_eval_duration"] = Nanoseconds(t.prefill_ms);
    answer["eval_count"] = t.decoded_tokens;
    answer["eval_duration"] = Nanoseconds(t.decode_ms);
    answer["timings"] = TimingsJson(t, generation().preparation);
    return answer;
  }

  // What a later request may send to go on from here.
  Json Context(const Outcome& outcome) const {
    Json ids = generation().request.prompt;
    for (const Choice& step : outcome.steps) ids.push_back(step.token);
    return ids;
  }

  void AddLogprobs(std::span<const Choice> steps, Json& answer) const {
    if (generation().request.logprobs == 0 || steps.empty()) return;
    const Tokenizer& tokenizer = generation().model->tokenizer();
    Json list = Json::array();
    for (const Choice& step : steps) {
      Json entry = TokenJson(tokenizer, step.token, step.logprob);
      const auto count = std::min(step.top.size(), static_cast<std::size_t>(top_logprobs_));
      for (std::size_t i = 0; i < count; ++i) {
        entry["top_logprobs"].push_back(
            TokenJson(tokenizer, step.top[i].token, step.top[i].logprob));
      }
      list.push_back(std::move(entry));
    }
    answer["logprobs"] = std::move(list);
  }

  static void Add(const Json& json, std::string& out) { out += Dump(json) + "\n"; }

  const OllamaKind kind_;
  const std::string model_;
  const double start_ms_;
  const double load_ms_;
  const std::int64_t top_logprobs_;
};

// 400 for thinking and pictures: no model here has them.
Answer<void> RefuseWhatIsMissing(Fields& fields, const std::string& model) {
  const Json* think = fields.Find("think");
  if (think != nullptr && !think->is_boolean() && !think->is_string()) {
    return RefuseInput("think: expected true, false or a level");
  }
  if (think != nullptr && *think != false) {
    return RefuseInput(fmt::format("think: \"{}\" does not support thinking", model));
  }
  const Json* images = fields.Array("images");
  if (images != nullptr && !images->empty()) {
    return RefuseInput(fmt::format("images: \"{}\" reads text only", model));
  }
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  return {};
}

void ReadOptions(Call& call, Fields& fields, Generation& generation) {
  const Json* object = fields.Object("options");
  const Json none = Json::object();
  Fields options(object == nullptr ? none : *object, "options.");
  CheckOptions(options);
  GenerateRequest& request = generation.request;
  request.sampling = ReadSampling(options, generation.model->tokenizer());
  const std::int64_t unnamed = call.service.options.default_max_tokens;
  // -2 is "until the context is full", which is also where -1 ends here.
  request.max_tokens =
      std::max<std::int64_t>(options.Integer("num_predict", unnamed, -2, 1 << 30), -1);
  AddStops(generation.model->tokenizer(), options.Texts("stop"), request);
  if (const auto status = options.status(); !status) fields.Reject(status.error().message);
}

}  // namespace

std::optional<std::chrono::nanoseconds> ParseDuration(std::string_view text) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  // The longer names first: "ms" is no minute.
  constexpr std::array<Unit, 7> kUnits = {
      {{"ns", 1e-9}, {"us", 1e-6}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}}};
  double sign = 1;
  if (text.starts_with('-') || text.starts_with('+')) {
    sign = text.front() == '-' ? -1 : 1;
    text.remove_prefix(1);
  }
  if (text == "0") return std::chrono::nanoseconds(0);
  if (text.empty()) return std::nullopt;
  double seconds = 0;
  while (!text.empty()) {
    const char* end = text.data() + text.size();
    double number = 0;
    const auto [stopped, error] =
        std::from_chars(text.data(), end, number, std::chars_format::fixed);
    if (error != std::errc() || number < 0) return std::nullopt;
    text = {stopped, static_cast<std::size_t>(end - stopped)};
    const auto unit = std::ranges::find_if(
        kUnits, [&](const Unit& candidate) { return text.starts_with(candidate.name); });
    if (unit == kUnits.end()) return std::nullopt;
    text.remove_prefix(unit->name.size());
    seconds += number * unit->seconds;
  }
  if (!(seconds <= kLongestSeconds)) return std::nullopt;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(sign * seconds * 1e9));
}

KeepAliveWish ReadKeepAlive(Fields& fields) {
  const Json* value = fields.Find("keep_alive");
  if (value == nullptr) return {};
  double seconds = 0;
  if (value->is_string()) {
    const auto duration = ParseDuration(value->get_ref<const std::string&>());
    if (!duration) {
      fields.Reject("keep_alive", fmt::format("\"{}\" is no duration, allowed is text such as "
                                              "\"5m\" or a number of seconds",
                                              value->get<std::string>().substr(0, 40)));
      return {};
    }
    seconds = std::chrono::duration<double>(*duration).count();
  } else {
    seconds = fields.Number("keep_alive", 0, -kLongestSeconds, kLongestSeconds);
  }
  if (seconds < 0) return {.given = true, .keep_alive = std::nullopt};
  return {.given = true,
          .keep_alive = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1e3))};
}

std::string Rfc3339(std::chrono::system_clock::time_point time) {
  const auto micros = std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(micros);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z", fmt::gmtime(seconds.count()),
                     (micros - seconds).count());
}

Answer<std::string> ReadModelName(Fields& fields) {
  std::string name = fields.Text("model", fields.Text("name"));
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  if (name.empty()) return RefuseInput("model: needed, the name of a model");
  return name;
}

Answer<OllamaRequest> ReadOllamaRequest(Call& call, Fields& fields) {
  const double start_ms = NowMs();
  const auto name = ReadModelName(fields);
  if (!name) return Refusal(name.error());
  if (const auto complete = RefuseWhatIsMissing(fields, *name); !complete) {
    return Refusal(complete.error());
  }
  auto model = AcquireModel(call, fields);
  if (!model) return Refusal(std::move(model).error());
  OllamaRequest request = {
      .generation = {.model = std::move(*model), .request = {}, .derived = call.derived},
      .model_name = *name,
      .keep_alive = ReadKeepAlive(fields),
      .start_ms = start_ms};
  Generation& generation = request.generation;
  ReadOwnFields(fields, generation);
  ReadOptions(call, fields, generation);
  generation.stream = fields.Bool("stream", true);
  const std::int64_t top = fields.Integer("top_logprobs", 0, 0, 20);
  if (fields.Bool("logprobs", false)) {
    generation.request.logprobs = static_cast<std::size_t>(std::max<std::int64_t>(top, 1));
  }
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  if (const auto form = ReadOllamaStructure(fields, generation); !form) {
    return Refusal(form.error());
  }
  return request;
}

Answer<void> StartOllama(Call& call, OllamaRequest request, OllamaKind kind) {
  Fields fields(call.body);
  auto format =
      std::make_unique<OllamaFormat>(kind, std::move(request.model_name), request.start_ms,
                                     call.load_ms, fields.Integer("top_logprobs", 0));
  if (request.keep_alive.given) {
    call.service.models.SetKeepAlive(*request.generation.model, request.keep_alive.keep_alive);
  }
  return Start(call, std::move(request.generation), std::move(format));
}

Answer<void> LoadOrUnload(Call& call, Fields& fields, OllamaKind kind) {
  const double start_ms = NowMs();
  const auto name = ReadModelName(fields);
  if (!name) return Refusal(name.error());
  const KeepAliveWish wish = ReadKeepAlive(fields);
  const bool stream = fields.Bool("stream", true);
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  ModelPool& models = call.service.models;
  ModelLease model;
  if (wish.unload()) {
    const auto derived = FindDerivedFor(models, *name);
    const auto key = models.KeyOf(derived ? derived->modelfile.from : *name);
    if (!key) return Refusal(key.error());
    model = models.Peek(*key);  // null: it is not in memory, as asked for
  } else {
    auto loaded = AcquireModel(call, fields);
    if (!loaded) return Refusal(std::move(loaded).error());
    model = std::move(*loaded);
  }
  if (model && wish.given) models.SetKeepAlive(*model, wish.keep_alive);
  Json answer = EmptyAnswer(*name, kind, "");
  answer["done"] = true;
  answer["done_reason"] = wish.unload() ? "unload" : "load";
  answer["total_duration"] = Nanoseconds(NowMs() - start_ms);
  answer["load_duration"] = Nanoseconds(call.load_ms);
  http::Response response = JsonResponse(answer);
  if (stream) response.content_type = http::JsonLines().content_type;
  response.body += "\n";
  (void)call.writer.Send(std::move(response));
  return {};
}

}  // namespace vivace
