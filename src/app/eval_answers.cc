// vivace eval --json-answers and --needle: whether answers are JSON, and whether a sentence is
// found in a long text.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/eval.h"
#include "chat/prompt.h"
#include "measure/serve_workload.h"
#include "measure/text_maker.h"

namespace vivace {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kSeed = 20260301;             // the same questions for every model
constexpr std::array kDepths = {0, 25, 50, 75, 100};  // % of the text before the sentence

Result<double> AnswerJson(Session& session, std::size_t number, const std::stop_token& cancel,
                          Json& more) {
  const Conversation chat =
      MakeConversation(WorkloadKind::kJson, {.run = kSeed, .round = 0, .client = number});
  constexpr std::int64_t kTokens = 160;
  const auto answer = GreedyAnswer(session, chat.system, chat.turns.front(), kTokens, cancel);
  if (!answer) return Failure(answer.error());
  more = {{"answer", *answer}};
  const Json value = Json::parse(*answer, nullptr, false);
  return value.is_object() ? 1.0 : 0.0;
}

struct Needle {
  std::int64_t tokens = 0;
  int depth = 0;
  std::int64_t repeat = 0;
};

// A text of about so many tokens with the sentence in it, and the question.
class Haystack {
 public:
  Haystack(const Model& model, const Needle& needle) {
    TextMaker make(kSeed ^ static_cast<std::uint64_t>(needle.tokens * 1'000'003 +
                                                      needle.depth * 1009 + needle.repeat));
    key_ = make.Word();
    secret_ = std::to_string(10'000 + make.Number(90'000));
    const std::string fact = fmt::format("The secret number of the {} is {}.", key_, secret_);
    constexpr std::int64_t kAround = 60;  // template, sentence and question
    std::vector<std::string> sentences;
    for (std::int64_t tokens = kAround; true;) {
      std::string sentence = make.Sentence();
      tokens += Count(model, sentence);
      if (tokens > needle.tokens) break;
      sentences.push_back(std::move(sentence));
    }
    const auto place = static_cast<std::ptrdiff_t>(sentences.size()) * needle.depth / 100;
    sentences.insert(sentences.begin() + place, fact);
    question_ = fmt::format("{}\n\nWhat is the secret number of the {}? Answer with the number.",
                            fmt::join(sentences, " "), key_);
  }

  const std::string& question() const { return question_; }
  bool FoundIn(const std::string& answer) const {
    return answer.find(secret_) != std::string::npos;
  }

 private:
  static std::int64_t Count(const Model& model, const std::string& text) {
    std::vector<TokenId> ids;
    model.tokenizer().Encode(" " + text, Tokenizer::Special::kAsText, ids);
    return static_cast<std::int64_t>(ids.size());
  }

  std::string key_;
  std::string secret_;
  std::string question_;
};

Result<double> AnswerNeedle(Session& session, const Needle& needle, const std::stop_token& cancel,
                            Json& more) {
  const Haystack haystack(session.model(), needle);
  constexpr std::int64_t kTokens = 24;
  const auto answer = GreedyAnswer(session, "", haystack.question(), kTokens, cancel);
  if (!answer) return Failure(answer.error());
  more = {{"answer", *answer}};
  return haystack.FoundIn(*answer) ? 1.0 : 0.0;
}

}  // namespace

Result<int> EvalJsonAnswers(const EvalFlags& flags) {
  auto session = Session::Open(flags.session);
  if (!session) return Failure(std::move(session).error());
  const InterruptScope interrupt;
  std::vector<EvalItem> items;
  for (std::size_t i = 0; std::cmp_less(i, flags.json_answers); ++i) {
    items.push_back({.name = fmt::format("question {:05}", i), .run = [&, i](Json& more) {
                       return AnswerJson(**session, i, interrupt.token(), more);
                     }});
  }
  return RunEvalItems(flags, HeadOf(**session, "json", "json_valid", "json questions 1"), items,
                      interrupt);
}

Result<int> EvalNeedle(const EvalFlags& flags) {
  SessionFlags with = flags.session;
  constexpr std::int64_t kAnswer = 64;
  for (const std::int64_t tokens : flags.needle)
    with.context = std::max(with.context, tokens + kAnswer);
  auto session = Session::Open(with);
  if (!session) return Failure(std::move(session).error());
  const std::int64_t most = (*session)->model().config().context - kAnswer;
  const InterruptScope interrupt;
  std::vector<EvalItem> items;
  for (const std::int64_t tokens : flags.needle) {
    if (tokens > most) {
      return Fail(
          ErrorKind::kBadInput,
          fmt::format("--needle is {}, allowed is 64 to {} by the model's context", tokens, most));
    }
    for (const int depth : kDepths) {
      for (std::int64_t repeat = 0; repeat < flags.repeats; ++repeat) {
        const Needle needle = {.tokens = tokens, .depth = depth, .repeat = repeat};
        items.push_back({.name = fmt::format("{:07} tokens, at {:3} %, {}", tokens, depth, repeat),
                         .run = [&, needle](Json& more) {
                           return AnswerNeedle(**session, needle, interrupt.token(), more);
                         }});
      }
    }
  }
  return RunEvalItems(flags, HeadOf(**session, "needle", "found", "needle 1"), items, interrupt);
}

}  // namespace vivace
