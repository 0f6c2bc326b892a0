// POST /v1/completions: text as OpenAI's older endpoint continues it.
#include <utility>

#include "api/endpoints.h"
#include "api/generation.h"
#include "api/infill_prompt.h"
#include "api/new_id.h"
#include "api/openai_form.h"
#include "api/prompt_field.h"
#include "api/reply.h"
#include "api/structure_fields.h"

namespace vivace {
namespace {

// What a request gets that names no limit, as OpenAI documents it.
constexpr std::int64_t kDefaultTokens = 16;

class CompletionsFormat : public ReplyFormat {
 public:
  CompletionsFormat(bool include_usage, bool echo) : include_usage_(include_usage), echo_(echo) {}

  http::Response Whole(std::span<const Outcome> outcomes) override {
    Json choices = Json::array();
    for (const Outcome& outcome : outcomes) {
      Json choice = Choice(outcome, Echo(outcome) + outcome.text, OpenAiFinish(outcome));
      choice["logprobs"] = Logprobs(outcome, outcome.steps, 0);
      choices.push_back(std::move(choice));
    }
    Json body = Frame(std::move(choices));
    body["usage"] = UsageJson(outcomes);
    body["timings"] = TimingsJson(outcomes.front().timings, generation().preparation);
    return JsonResponse(body);
  }

  void Next(const Part& part, std::string& out) override {
    const std::size_t before = part.outcome.text.size() - part.text.size();
    std::string text(part.text);
    if (before == 0) text.insert(0, Echo(part.outcome));
    Json choice = Choice(part.outcome, std::move(text), nullptr);
    choice["logprobs"] = Logprobs(part.outcome, part.steps, before);
    Add(Frame(Json::array({std::move(choice)})), out);
  }

  void End(const Outcome& outcome, std::string& out) override {
    // An answer without any text has not echoed yet.
    const bool silent = outcome.text.empty();
    Json choice = Choice(outcome, silent ? Echo(outcome) : "", OpenAiFinish(outcome));
    if (silent && echo_) choice["logprobs"] = Logprobs(outcome, {}, 0);
    Json chunk = Frame(Json::array({std::move(choice)}));
    chunk["timings"] = TimingsJson(outcome.timings, generation().preparation);
    Add(chunk, out);
  }

  void Close(std::span<const Outcome> outcomes, std::string& out) override {
    if (include_usage_) {
      Json chunk = Frame(Json::array());
      chunk["usage"] = UsageJson(outcomes);
      Add(chunk, out);
    }
    out += http::Event("[DONE]");
  }

  void Fail(const ApiError& error, std::string& out) override {
    Add(ErrorJson(Dialect::kOpenAi, error), out);
  }

 private:
  const Tokenizer& tokenizer() const { return generation().model->tokenizer(); }

  std::string Echo(const Outcome& outcome) const {
    return echo_ ? TextOfTokens(tokenizer(), PromptOf(outcome)) : "";
  }

  Json Frame(Json choices) const {
    return {{"id", id_},
            {"object", "text_completion"},
            {"created", created_},
            {"model", generation().model_name()},
            {"system_fingerprint", generation().fingerprint},
            {"choices", std::move(choices)}};
  }

  static Json Choice(const Outcome& outcome, std::string text, const char* finish) {
    Json choice = {{"index", outcome.index},
                   {"text", std::move(text)},
                   {"logprobs", nullptr},
                   {"finish_reason", nullptr}};
    if (finish != nullptr) choice["finish_reason"] = finish;
    return choice;
  }

  // The four lists of an answer's "logprobs".
  struct Lists {
    const Tokenizer& tokenizer;
    Json tokens = Json::array();
    Json logprobs = Json::array();
    Json tops = Json::array();
    Json offsets = Json::array();
    std::size_t offset = 0;

    void Add(TokenId token, Json logprob, Json top) {
      const std::string text = TokenText(tokenizer, token);
      tokens.push_back(text);
      logprobs.push_back(std::move(logprob));
      tops.push_back(std::move(top));
      offsets.push_back(offset);
      offset += text.size();
    }

    void Add(const vivace::Choice& step) {
      Json top = Json::object();
      for (const TokenLogprob& one : step.top) {
        top[TokenText(tokenizer, one.token)] = FiniteLogprob(one.logprob);
      }
      Add(step.token, FiniteLogprob(step.logprob), std::move(top));
    }
  };

  // Of answer tokens. `before`: the bytes of the answer's text that come before them; the first
  // ones follow those of an echoed prompt.
  Json Logprobs(const Outcome& outcome, std::span<const vivace::Choice> steps,
                std::size_t before) const {
    if (generation().request.logprobs == 0) return nullptr;
    Lists lists = {.tokenizer = tokenizer()};
    const std::vector<TokenId>& prompt = PromptOf(outcome);
    if (echo_ && before == 0 && !prompt.empty()) {
      lists.Add(prompt.front(), nullptr, nullptr);  // nothing comes before it
      for (const vivace::Choice& score : outcome.scores) lists.Add(score);
    }
    lists.offset = Echo(outcome).size() + before;
    for (const vivace::Choice& step : steps) lists.Add(step);
    return {{"tokens", std::move(lists.tokens)},
            {"token_logprobs", std::move(lists.logprobs)},
            {"top_logprobs", std::move(lists.tops)},
            {"text_offset", std::move(lists.offsets)}};
  }

  static void Add(const Json& json, std::string& out) { out += http::Event(Dump(json)); }

  const std::string id_ = NewId("cmpl-");
  const std::int64_t created_ = UnixSeconds();
  const bool include_usage_;
  const bool echo_;
};

// What stands between prompt and suffix.
Answer<void> SetInfill(Fields& fields, const std::string& suffix, Generation& generation) {
  const std::string prompt = fields.Text("prompt");
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  const Tokenizer& tokenizer = generation.model->tokenizer();
  const auto tokens = FindInfillTokens(tokenizer);
  if (!tokens) return NotSupported("suffix: the model has no tokens for a missing middle");
  generation.request.prompt =
      InfillPrompt({.prefix = prompt, .suffix = suffix}, *tokens, tokenizer);
  return {};
}

Answer<void> RefuseRest(Fields& fields) {
  if (fields.Integer("best_of", 1, 1) > fields.Integer("n", 1, 1)) {
    return NotSupported("best_of: more than n is not available");
  }
  return {};
}

Answer<void> Completions(Call& call) {
  Fields fields(call.body);
  auto model = AcquireModel(call, fields);
  if (!model) return Refusal(std::move(model).error());
  Generation generation = {.model = std::move(*model), .request = {}};
  if (const auto refused = RefuseRest(fields); !refused) return refused;
  ReadGeneration(call, fields, generation);
  if (const auto form = ReadStructure(fields, generation); !form) return form;
  const bool limited = fields.Has("max_tokens") || fields.Has("n_predict") ||
                       call.service.options.default_max_tokens >= 0;
  if (!limited) generation.request.max_tokens = kDefaultTokens;
  // The chosen token is always among those reported, so 0 still means one.
  if (fields.Has("logprobs")) {
    const std::int64_t top = fields.Integer("logprobs", 0, 0, 20);
    generation.request.logprobs = static_cast<std::size_t>(std::max<std::int64_t>(top, 1));
  }
  const bool include_usage = ReadIncludeUsage(fields);
  const bool echo = fields.Bool("echo", false);
  GenerateRequest& request = generation.request;
  request.score_prompt = echo && request.logprobs > 0;
  // Who scores a prompt asks for one token more and takes it off again: it must be there, even
  // where it is the end.
  if (request.score_prompt && request.max_tokens == 1) request.ignore_end = true;
  const std::string suffix = fields.Text("suffix");
  auto prompts =
      suffix.empty() ? SetPrompts(fields, generation) : SetInfill(fields, suffix, generation);
  if (!prompts) return prompts;
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  return Start(call, std::move(generation),
               std::make_unique<CompletionsFormat>(include_usage, echo));
}

}  // namespace

void AddOpenAiCompletions(http::Router& router, Service& service) {
  router.Add("POST", "/v1/completions", JsonEndpoint(service, Completions));
}

}  // namespace vivace
