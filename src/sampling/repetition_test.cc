#include "sampling/repetition.h"

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

namespace vivace {
namespace {

using Tokens = std::vector<TokenId>;
using Lengths = std::map<TokenId, std::int32_t>;

Lengths Found(const Tokens& text, const Tokens& breakers = {}) {
  RepetitionFinder finder;
  Lengths lengths;
  for (const Repetition& repetition : finder.Find(text, breakers)) {
    EXPECT_TRUE(lengths.emplace(repetition.next, repetition.length).second);
  }
  return lengths;
}

// By the definition.
Lengths Expected(const Tokens& text, const Tokens& breakers) {
  Lengths lengths;
  const auto is_breaker = [&](TokenId token) {
    return std::ranges::find(breakers, token) != breakers.end();
  };
  for (std::size_t end = 1; end < text.size(); ++end) {  // text[end] followed then
    std::size_t length = 0;
    while (length < end && text[end - 1 - length] == text[text.size() - 1 - length] &&
           !is_breaker(text[end - 1 - length])) {
      ++length;
    }
    if (length == 0) continue;
    std::int32_t& longest = lengths[text[end]];
    longest = std::max(longest, static_cast<std::int32_t>(length));
  }
  return lengths;
}

TEST(RepetitionTest, TheLongestForEachNextToken) {
  EXPECT_EQ(Found({1, 2, 3, 9, 2, 3, 7, 1, 2, 3}), (Lengths{{9, 3}, {7, 2}}));
  EXPECT_EQ(Found({5, 5, 5}), (Lengths{{5, 2}}));
  EXPECT_TRUE(Found({}).empty());
  EXPECT_TRUE(Found({1, 2, 3}).empty());
}

TEST(RepetitionTest, NothingGoesBackBeyondABreaker) {
  EXPECT_EQ(Found({1, 2, 3, 9, 1, 2, 3}, {2}), (Lengths{{9, 1}}));
  EXPECT_TRUE(Found({1, 2, 9, 1, 2}, {2}).empty());
}

TEST(RepetitionTest, AgreesWithTheDefinition) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    Tokens text(random() % 60);
    for (TokenId& token : text) token = static_cast<TokenId>(random() % 4);
    const Tokens breakers = round % 2 == 0 ? Tokens{} : Tokens{3};
    ASSERT_EQ(Found(text, breakers), Expected(text, breakers)) << round;
  }
}

}  // namespace
}  // namespace vivace
