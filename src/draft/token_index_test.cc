#include "draft/token_index.h"

#include <algorithm>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace vivace {
namespace {

using Tokens = std::vector<TokenId>;

TokenIndex IndexOf(const Tokens& tokens, int least, std::int64_t capacity = 1024) {
  TokenIndex index(capacity, least);
  for (const TokenId token : tokens) index.Append(token);
  return index;
}

TEST(TokenIndex, FindsWhatFollowedTheLongestRun) {
  const TokenIndex index = IndexOf({1, 2, 3, 4, 9, 2, 3, 5, 7}, 2);
  const auto match = index.Find(Tokens{8, 1, 2, 3});
  EXPECT_EQ(match.length, 3);
  EXPECT_EQ(index.at(match.next), 4);
  EXPECT_EQ(index.at(index.Find(Tokens{6, 2, 3}).next), 5);  // of two, the later one
}

TEST(TokenIndex, ItsOwnEndPredictsNothingUntilATokenFollows) {
  TokenIndex index = IndexOf({1, 2, 3}, 2);
  EXPECT_EQ(index.Find(Tokens{2, 3}).next, -1);
  index.Append(4);
  EXPECT_EQ(index.at(index.Find(Tokens{2, 3}).next), 4);
}

TEST(TokenIndex, ShortContextsAndUnknownRunsHaveNoMatch) {
  const TokenIndex index = IndexOf({1, 2, 3, 4}, 3);
  EXPECT_EQ(index.Find({}).next, -1);
  EXPECT_EQ(index.Find(Tokens{2, 3}).next, -1);
  EXPECT_EQ(index.Find(Tokens{3, 2, 1}).next, -1);
  EXPECT_EQ(TokenIndex(16, 1).Find(Tokens{1}).next, -1);
}

TEST(TokenIndex, NothingIsFoundAcrossABreak) {
  const TokenIndex index = IndexOf({1, 2, TokenIndex::kBreak, 3, 4, TokenIndex::kBreak, 5}, 1);
  EXPECT_EQ(index.Find(Tokens{2}).next, -1);
  const auto match = index.Find(Tokens{1, 2, 3});
  EXPECT_EQ(match.length, 1);
  EXPECT_EQ(index.at(match.next), 4);
}

TEST(TokenIndex, GoesOnWhereItIsTold) {
  Tokens tokens = {1, 2, 3, 4, 5};
  // Enough later places with a shorter match to keep a search from the first one.
  for (TokenId i = 0; i < 40; ++i) tokens.insert(tokens.end(), {100 + i, 4, 6});
  tokens.insert(tokens.end(), {7});
  const TokenIndex index = IndexOf(tokens, 1);
  EXPECT_EQ(index.at(index.Find(Tokens{1, 2, 3, 4}).next), 6);
  EXPECT_EQ(index.at(index.Find(Tokens{1, 2, 3, 4}, 4).next), 5);
  EXPECT_EQ(index.at(index.Find(Tokens{2, 4}, 4).next), 6);     // no better than the latest
  EXPECT_EQ(index.at(index.Find(Tokens{2, 4}, 4000).next), 6);  // not a position
}

TEST(TokenIndex, ForgetsAllWhenCleared) {
  TokenIndex index = IndexOf({1, 2, 3, 1, 2}, 2);
  index.Clear();
  EXPECT_EQ(index.size(), 0);
  EXPECT_EQ(index.Find(Tokens{1, 2}).next, -1);
  for (const TokenId token : {1, 2, 4}) index.Append(token);
  EXPECT_EQ(index.at(index.Find(Tokens{1, 2}).next), 4);
}

// Against a search of everything that is kept, far beyond the capacity.
TEST(TokenIndex, FindsTheLongestOfWhatIsKept) {
  std::mt19937 random(5);
  for (const int least : {1, 2, 3}) {
    TokenIndex index(64, least);
    Tokens all;
    for (int step = 0; step < 1000; ++step) {
      // Rarely the same run more than a few times: chains are short enough to be searched.
      const auto token = static_cast<TokenId>(random() % 24);
      const auto match = index.Find(all);
      int longest = 0;
      for (auto next = index.oldest() + 1; next < index.size(); ++next) {
        int length = 0;
        while (next - length > index.oldest() && length < TokenIndex::kLongest &&
               all[all.size() - 1 - static_cast<std::size_t>(length)] ==
                   all[static_cast<std::size_t>(next - 1 - length)]) {
          ++length;
        }
        longest = std::max(longest, length);
      }
      EXPECT_EQ(match.length, longest >= least ? longest : 0) << step;
      if (match.next >= 0) {
        EXPECT_EQ(index.at(match.next), all[static_cast<std::size_t>(match.next)]);
      }
      index.Append(token);
      all.push_back(token);
    }
  }
}

}  // namespace
}  // namespace vivace
