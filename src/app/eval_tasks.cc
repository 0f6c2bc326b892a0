// vivace eval --tasks: multiple choice by log-likelihood, programs by their tests.
#include "measure/eval_tasks.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "app/eval.h"
#include "chat/prompt.h"
#include "measure/eval_code.h"
#include "measure/sandbox.h"

namespace vivace {
namespace {

using Json = nlohmann::ordered_json;

// Letters are among the likeliest tokens after "Answer:"; one that is not counts as hopeless.
constexpr std::size_t kLogprobs = 4096;

// What a model is asked, and the token by which each letter would follow.
struct ChoiceTokens {
  std::vector<TokenId> prompt;
  std::vector<TokenId> letters;
};

// With " A" as one token after the prompt, as most tokenizers have it; else with the space in
// the prompt and "A" after it.
Result<ChoiceTokens> TokensOf(const Model& model, const std::string& preface,
                              const ChoiceTask& task) {
  const std::string text = preface + ChoicePrompt(task);
  for (const char* space : {"", " "}) {
    ChoiceTokens tokens = {.prompt = RawPrompt(model, text + space, false), .letters = {}};
    const std::span<const TokenId> prompt = tokens.prompt;
    for (std::size_t i = 0; i < task.choices.size(); ++i) {
      const char letter = static_cast<char>('A' + i);
      const std::vector<TokenId> whole = RawPrompt(model, text + " " + letter, false);
      const bool one_more = whole.size() == prompt.size() + 1 &&
                            std::equal(prompt.begin(), prompt.end(), whole.begin());
      if (one_more) tokens.letters.push_back(whole.back());
    }
    if (tokens.letters.size() == task.choices.size()) return tokens;
  }
  return Fail(ErrorKind::kUnsupported, "the model's tokenizer has no tokens for single letters");
}

Result<double> AnswerChoice(Session& session, const std::string& preface, const ChoiceTask& task,
                            const std::stop_token& cancel, Json& more) {
  const auto tokens = TokensOf(session.model(), preface, task);
  if (!tokens) return Failure(tokens.error());
  GenerateRequest request = GreedyRequest(tokens->prompt, 1);
  request.logprobs = kLogprobs;
  request.ignore_end = true;
  const auto result = session.generator().Generate(request, cancel, [](std::string_view) {});
  if (!result) return Failure(result.error());
  if (result->logprobs.empty()) return Fail(ErrorKind::kCancelled, "the evaluation was stopped");
  std::vector<double> scores;
  for (const TokenId letter : tokens->letters) {
    double score = std::numeric_limits<double>::lowest();
    for (const TokenLogprob& one : result->logprobs.front()) {
      if (one.token == letter) score = std::max(score, one.logprob);
    }
    scores.push_back(score);
  }
  const auto best = static_cast<std::size_t>(
      std::distance(scores.begin(), std::max_element(scores.begin(), scores.end())));
  more = {{"chosen", std::string(1, static_cast<char>('A' + best))},
          {"right", std::string(1, static_cast<char>('A' + task.answer))},
          {"logprobs", scores}};
  return best == task.answer ? 1.0 : 0.0;
}

Result<std::string> WriteCode(Session& session, const CodeTask& task, const EvalFlags& flags,
                              const std::stop_token& cancel) {
  if (!flags.raw) {
    return GreedyAnswer(session, "",
                        "Complete this Python function. Answer with one code block that has the "
                        "whole function and what it imports.\n\n```python\n" +
                            task.prompt + "\n```",
                        flags.max_tokens, cancel);
  }
  GenerateRequest request =
      GreedyRequest(RawPrompt(session.model(), task.prompt, false), flags.max_tokens);
  request.stop = {"\nclass ", "\ndef ", "\n#", "\nif ", "\nprint(", "\n```"};
  const auto result = session.generator().Generate(request, cancel, [](std::string_view) {});
  if (!result) return Failure(result.error());
  if (result->finish_reason == FinishReason::kCancelled)
    return Fail(ErrorKind::kCancelled, "the evaluation was stopped");
  return task.prompt + result->text;
}

Result<double> AnswerCode(Session& session, const CodeTask& task, const EvalFlags& flags,
                          const std::stop_token& cancel, Json& more) {
  const auto answer = WriteCode(session, task, flags, cancel);
  if (!answer) return Failure(answer.error());
  const auto ran = RunPython(ProgramOf(task, *answer, flags.raw), {}, cancel);
  if (!ran) return Failure(ran.error());
  constexpr const char* kEnds[] = {"passed", "failed", "timed out"};
  more = {{"end", kEnds[static_cast<std::size_t>(ran->end)]},
          {"error", ran->last_line},
          {"offline", ran->offline},
          {"answer", *answer}};
  return ran->end == SandboxEnd::kPassed ? 1.0 : 0.0;
}

// What comes before each question, and what a run's head says of it.
struct Preface {
  std::string text = ChoicePreface({});
  Json settings = Json::object();
};

Result<Preface> PrefaceOf(const EvalFlags& flags, const TaskFile& tasks) {
  if (flags.shots == 0) return Preface();
  if (tasks.choices.empty()) {
    return Fail(ErrorKind::kBadInput,
                "--shots is for multiple choice, but " + flags.tasks + " has programs");
  }
  const auto file = ReadTasks(flags.examples);
  if (!file) return Failure(file.error());
  if (std::cmp_greater(flags.shots, file->choices.size())) {
    return Fail(ErrorKind::kBadInput, fmt::format("--shots is {}, {} has {} questions", flags.shots,
                                                  flags.examples, file->choices.size()));
  }
  const auto shown = std::span(file->choices).first(static_cast<std::size_t>(flags.shots));
  return Preface{.text = ChoicePreface(shown),
                 .settings = {{"shots", flags.shots}, {"dev", fmt::format("{:016x}", file->hash)}}};
}

}  // namespace

Result<int> EvalTasks(const EvalFlags& flags) {
  const auto file = ReadTasks(flags.tasks);
  if (!file) return Failure(file.error());
  const auto preface = PrefaceOf(flags, *file);
  if (!preface) return Failure(preface.error());
  auto session = Session::Open(flags.session);
  if (!session) return Failure(std::move(session).error());
  const InterruptScope interrupt;
  std::vector<EvalItem> items;
  for (const ChoiceTask& task : file->choices) {
    items.push_back({.name = task.id, .run = [&](Json& more) {
                       return AnswerChoice(**session, preface->text, task, interrupt.token(), more);
                     }});
  }
  for (const CodeTask& task : file->programs) {
    items.push_back({.name = task.id, .run = [&](Json& more) {
                       return AnswerCode(**session, task, flags, interrupt.token(), more);
                     }});
  }
  if (flags.limit > 0 && std::cmp_less(flags.limit, items.size()))
    items.resize(static_cast<std::size_t>(flags.limit));
  const bool code = !file->programs.empty();
  EvalHead head = HeadOf(**session, code ? "code" : "choice", code ? "pass@1" : "accuracy",
                         fmt::format("tasks {:016x}", file->hash));
  head.settings =
      code ? Json{{"raw", flags.raw}, {"max_tokens", flags.max_tokens}} : preface->settings;
  return RunEvalItems(flags, head, items, interrupt);
}

}  // namespace vivace
