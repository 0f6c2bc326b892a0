#include "draft/knowledge.h"

namespace vivace {
namespace {

// The shortest run that says something.
constexpr int kLeastRun = 2;

}  // namespace

DraftKnowledge::DraftKnowledge(std::int64_t vocab_size)
    : answers(kAnswerTokens, kLeastRun), successors(vocab_size) {}

void DraftKnowledge::Clear() {
  answers.Clear();
  successors.Clear();
  acceptance = Acceptance();
}

void DraftKnowledge::Remember(std::span<const TokenId> answer) {
  if (answer.empty()) return;
  answers.Append(TokenIndex::kBreak);
  for (const TokenId token : answer) answers.Append(token);
}

std::vector<TokenId> DraftKnowledge::Answers() const {
  std::vector<TokenId> tokens;
  for (auto position = answers.oldest(); position < answers.size(); ++position) {
    tokens.push_back(answers.at(position));
  }
  return tokens;
}

void DraftKnowledge::Restore(std::span<const TokenId> tokens) {
  TokenId last = TokenIndex::kBreak;
  for (const TokenId token : tokens) {
    answers.Append(token);
    if (last != TokenIndex::kBreak && token != TokenIndex::kBreak) successors.See(last, token);
    last = token;
  }
}

}  // namespace vivace
