#include "draft/drafter.h"

#include <algorithm>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace vivace {
namespace {

using Tokens = std::vector<TokenId>;
constexpr std::int64_t kVocab = 1000;

Tokens TokensOf(std::span<const DraftToken> draft) {
  Tokens tokens;
  for (const DraftToken& entry : draft) tokens.push_back(entry.token);
  return tokens;
}

TEST(Drafter, GoesOnAsTheConversationDidBefore) {
  DraftKnowledge shared(kVocab);
  Drafter drafter(Tokens{1, 2, 3, 4, 5, 6, 7, 1, 2, 3}, 100, shared);
  const auto draft = drafter.Propose(4);
  EXPECT_EQ(TokensOf(draft), (Tokens{4, 5, 6, 7}));
  EXPECT_EQ(draft.front().source, DraftSource::kConversation);
  drafter.Append(4);
  EXPECT_EQ(TokensOf(drafter.Propose(2)), (Tokens{5, 6}));
}

TEST(Drafter, ChancesFallAlongADraft) {
  DraftKnowledge shared(kVocab);
  Drafter drafter(Tokens{1, 2, 3, 4, 5, 6, 7, 1, 2, 3}, 100, shared);
  float before = 1;
  for (const DraftToken& entry : drafter.Propose(10)) {
    EXPECT_GT(entry.reach, 0);
    EXPECT_LT(entry.reach, before);
    before = entry.reach;
  }
}

TEST(Drafter, HasNoIdeaOfWhatItHasNeverSeen) {
  DraftKnowledge shared(kVocab);
  Drafter drafter(Tokens{1, 2, 3, 4}, 100, shared);
  EXPECT_TRUE(drafter.Propose(8).empty());
  EXPECT_TRUE(Drafter(Tokens{7}, 1, shared).Propose(8).empty());
}

TEST(Drafter, KnowsEarlierAnswersButNotAcrossThem) {
  DraftKnowledge shared(kVocab);
  shared.Remember(Tokens{10, 11, 12, 13});
  shared.Remember(Tokens{20, 21});
  Drafter drafter(Tokens{1, 10, 11}, 100, shared);
  const auto draft = drafter.Propose(8);
  EXPECT_EQ(TokensOf(draft), (Tokens{12, 13}));
  EXPECT_EQ(draft.front().source, DraftSource::kMemory);
}

TEST(Drafter, KnowsWhatCameAfterATokenInOtherAnswers) {
  DraftKnowledge shared(kVocab);
  Drafter first(Tokens{1}, 100, shared);
  for (const TokenId token : {50, 51, 52, 53}) first.Append(token);
  Drafter second(Tokens{2, 50}, 100, shared);
  const auto draft = second.Propose(2);
  EXPECT_EQ(TokensOf(draft), (Tokens{51, 52}));
  EXPECT_EQ(draft.front().source, DraftSource::kSuccessor);
}

TEST(Drafter, ProposesNoMoreThanIsAskedForAndItsLimit) {
  DraftKnowledge shared(kVocab);
  Tokens loop;
  for (int i = 0; i < 100; ++i) loop.push_back(i % 5);
  Drafter drafter(loop, 200, shared);
  EXPECT_TRUE(drafter.Propose(0).empty());
  EXPECT_EQ(drafter.Propose(3).size(), 3);
  EXPECT_EQ(static_cast<std::int64_t>(drafter.Propose(100).size()), Drafter::kMostTokens);
}

TEST(Drafter, LearnsThatASourceIsWrong) {
  DraftKnowledge shared(kVocab);
  std::mt19937 random(3);
  Tokens prompt;
  for (int i = 0; i < 400; ++i) prompt.push_back(static_cast<TokenId>(random() % 20));
  Drafter drafter(prompt, 2000, shared);
  float first = 0;
  float last = 0;
  for (int i = 0; i < 400; ++i) {
    const auto draft = drafter.Propose(1);
    if (!draft.empty()) {
      if (first == 0) first = draft.front().reach;
      last = draft.front().reach;
    }
    drafter.Append(static_cast<TokenId>(random() % 20));
  }
  EXPECT_LT(last, first / 2);
}

TEST(Drafter, ClearedKnowledgeIsGone) {
  DraftKnowledge shared(kVocab);
  shared.Remember(Tokens{10, 11, 12, 13});
  Drafter drafter(Tokens{10, 11}, 100, shared);
  EXPECT_FALSE(drafter.Propose(1).empty());
  shared.Clear();
  EXPECT_TRUE(drafter.Propose(1).empty());
  drafter.Append(12);
  EXPECT_TRUE(drafter.Propose(1).empty());
}

}  // namespace
}  // namespace vivace
