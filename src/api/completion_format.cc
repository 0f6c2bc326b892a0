#include "api/completion_format.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "api/openai_form.h"
#include "api/prompt_field.h"
#include "api/timings.h"

namespace vivace {
namespace {

// What ended the answer; "none" where there was nothing to answer.
const char* StopType(const Outcome& outcome) {
  if (outcome.timings.prompt_tokens == 0) return "none";
  switch (outcome.reason) {
    case FinishReason::kStop:
      return "eos";
    case FinishReason::kStopString:
      return "word";
    case FinishReason::kLength:
      return "limit";
    case FinishReason::kCancelled:
    case FinishReason::kFailed:
      break;
  }
  return "none";
}

Json IdsOf(std::span<const Choice> steps) {
  Json ids = Json::array();
  for (const Choice& step : steps) ids.push_back(step.token);
  return ids;
}

}  // namespace

Json PickFields(const Json& answer, const std::vector<std::string>& paths) {
  if (paths.empty()) return answer;
  Json picked = Json::object();
  for (const std::string& path : paths) {
    const Json* value = &answer;
    for (std::size_t begin = 0; value != nullptr && begin <= path.size();) {
      const std::size_t end = std::min(path.find('/', begin), path.size());
      const auto found =
          value->is_object() ? value->find(path.substr(begin, end - begin)) : value->end();
      value = found == value->end() ? nullptr : &*found;
      begin = end + 1;
    }
    if (value != nullptr) picked[path] = *value;
  }
  return picked;
}

Json StepProbabilities(const Tokenizer& tokenizer, std::span<const Choice> steps, bool of_kept) {
  const auto entry = [&](TokenId token, double logprob) {
    Json json = {{"id", token},
                 {"token", TokenText(tokenizer, token)},
                 {"bytes", TokenBytes(tokenizer, token)}};
    if (of_kept) {
      json["prob"] = std::exp(logprob);
    } else {
      json["logprob"] = FiniteLogprob(logprob);
    }
    return json;
  };
  Json entries = Json::array();
  for (const Choice& step : steps) {
    Json top = Json::array();
    for (const TokenLogprob& one : step.top) top.push_back(entry(one.token, one.logprob));
    Json chosen = entry(step.token, step.logprob);
    chosen[of_kept ? "top_probs" : "top_logprobs"] = std::move(top);
    entries.push_back(std::move(chosen));
  }
  return entries;
}

Json CompletionFormat::Final(const Outcome& outcome, bool with_text) const {
  const GenerateTimings& timings = outcome.timings;
  const bool with_tokens = with_text && options_.return_tokens;
  // The last token is not evaluated, so it is not held.
  const std::int64_t held =
      timings.prompt_tokens + std::max<std::int64_t>(timings.decoded_tokens - 1, 0);
  Json json = {{"index", outcome.index},
               {"content", with_text ? outcome.text : ""},
               {"tokens", with_tokens ? IdsOf(outcome.steps) : Json::array()},
               {"id_slot", outcome.slot},
               {"stop", true},
               {"model", generation().model->name()},
               {"tokens_predicted", timings.decoded_tokens},
               {"tokens_evaluated", timings.prompt_tokens},
               {"generation_settings", options_.settings},
               {"prompt", TextOfTokens(tokenizer(), PromptOf(outcome))},
               {"has_new_line", outcome.text.find('\n') != std::string::npos},
               {"truncated", timings.dropped_tokens > 0},
               {"stop_type", StopType(outcome)},
               {"stopping_word", outcome.stopping_word},
               {"tokens_cached", held},
               {"timings", TimingsJson(timings, generation().preparation)}};
  const GenerateRequest& request = generation().request;
  if (with_text && request.logprobs > 0) {
    json["completion_probabilities"] =
        StepProbabilities(tokenizer(), outcome.steps, request.logprobs_of_kept);
  }
  return PickFields(json, options_.response_fields);
}

http::Response CompletionFormat::Whole(std::span<const Outcome> outcomes) {
  if (outcomes.size() == 1) return JsonResponse(Final(outcomes.front(), true));
  Json all = Json::array();
  for (const Outcome& outcome : outcomes) all.push_back(Final(outcome, true));
  return JsonResponse(all);
}

http::StreamHead CompletionFormat::Head() {
  http::StreamHead head;
  if (!options_.ping_time) return head;
  if (options_.ping_time->count() == 0) {
    head.ping.clear();
  } else {
    head.ping_time = options_.ping_time;
  }
  return head;
}

Json CompletionFormat::Chunk(const Outcome& outcome, std::string_view text,
                             std::span<const Choice> steps) const {
  Json json = {{"index", outcome.index},
               {"content", text},
               {"tokens", IdsOf(steps)},
               {"stop", false},
               {"id_slot", outcome.slot},
               {"tokens_predicted", outcome.timings.decoded_tokens},
               {"tokens_evaluated", outcome.timings.prompt_tokens}};
  if (options_.timings_per_token) {
    json["timings"] = TimingsJson(outcome.timings, generation().preparation);
  }
  return json;
}

void CompletionFormat::Progress(const Outcome& outcome, std::int64_t evaluated, std::string& out) {
  Json chunk = Chunk(outcome, "", {});
  chunk["prompt_progress"] = {{"total", outcome.timings.prompt_tokens},
                              {"cache", outcome.timings.cached_tokens},
                              {"processed", evaluated},
                              {"time_ms", std::llround(outcome.timings.prefill_ms)}};
  out += http::Event(Dump(chunk));
}

void CompletionFormat::Next(const Part& part, std::string& out) {
  Json chunk = Chunk(part.outcome, part.text, part.steps);
  const GenerateRequest& request = generation().request;
  if (request.logprobs > 0) {
    chunk["completion_probabilities"] =
        StepProbabilities(tokenizer(), part.steps, request.logprobs_of_kept);
  }
  out += http::Event(Dump(chunk));
}

void CompletionFormat::End(const Outcome& outcome, std::string& out) {
  out += http::Event(Dump(Final(outcome, false)));
}

void CompletionFormat::Fail(const ApiError& error, std::string& out) {
  out += http::Event(Dump(ErrorJson(Dialect::kOpenAi, error)));
}

}  // namespace vivace
