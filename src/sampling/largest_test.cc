#include "sampling/largest.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"

#include "sampling/packed_sort.h"
#include "sampling/random.h"

namespace vivace {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// Of few different values, so that there are ties, with some that are no numbers.
std::vector<float> Row(std::size_t size, std::uint32_t seed) {
  std::vector<float> row(size);
  for (std::size_t i = 0; i < size; ++i) {
    const double uniform = Uniform(seed, i);
    row[i] = static_cast<float>(std::floor(uniform * 500) - 250) / 8;
    if (uniform < 0.01) row[i] = NAN;
    if (uniform > 0.99) row[i] = -kInf;
  }
  return row;
}

std::vector<Candidate> AllSorted(const std::vector<float>& row) {
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < row.size(); ++i) {
    all.push_back({static_cast<TokenId>(i), std::isnan(row[i]) ? -kInf : row[i]});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& a, const Candidate& b) { return a.logit > b.logit; });
  return all;
}

TEST(ArgMaxTest, TakesTheFirstOfEqualsAndIgnoresNan) {
  EXPECT_EQ(ArgMax(std::vector<float>{1, 3, 3, 2}), 1);
  EXPECT_EQ(ArgMax(std::vector<float>{NAN, 1, NAN}), 1);
  EXPECT_EQ(ArgMax(std::vector<float>{-kInf, -kInf}), 0);
  EXPECT_EQ(ArgMax(std::vector<float>{-1, kInf, NAN, kInf}), 1);
  EXPECT_EQ(ArgMax(std::vector<float>{}), 0);
}

TEST(ArgMaxTest, FindsItAtEveryPlace) {
  for (const std::size_t size : {1U, 7U, 4096U, 4097U, 9000U}) {
    std::vector<float> row = Row(size, 3);
    for (std::size_t i = 0; i < size; i += 1 + size / 50) {
      const float before = row[i];
      row[i] = 1000;
      EXPECT_EQ(ArgMax(row), static_cast<TokenId>(i));
      row[i] = before;
    }
  }
}

TEST(LargestFinderTest, IsTheBeginningOfTheSortedRow) {
  LargestFinder finder;
  for (const std::size_t size : {0U, 1U, 5U, 100U, 4096U, 5000U, 20000U}) {
    const std::vector<float> row = Row(size, 1);
    const std::vector<Candidate> all = AllSorted(row);
    for (const std::size_t count : {0U, 1U, 2U, 40U, 3000U, 4095U, 4096U, 30000U}) {
      const std::span<Candidate> found = finder.Find(row, count);
      ASSERT_EQ(found.size(), std::min(count, size));
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(found[i].token, all[i].token) << size << " " << count << " " << i;
        ASSERT_EQ(found[i].logit, all[i].logit);
      }
    }
  }
}

TEST(LargestFinderTest, ZerosOfBothSignsAreEqual) {
  LargestFinder finder;
  const std::vector<float> row = {-0.0F, 0.0F, -0.0F};
  EXPECT_EQ(finder.Find(row, 3)[0].token, 0);
  EXPECT_EQ(finder.Find(row, 1)[0].token, 0);
}

TEST(LargestFinderTest, RowsOfNothingButForbiddenTokens) {
  LargestFinder finder;
  const std::vector<float> row(6000, NAN);
  const std::span<Candidate> found = finder.Find(row, 20);
  ASSERT_EQ(found.size(), 20U);
  EXPECT_EQ(found[19].token, 19);
  EXPECT_EQ(found[19].logit, -kInf);
}

TEST(PackedSortTest, SortsByKeyThenIndex) {
  std::vector<std::uint64_t> scratch;
  for (const std::size_t size : {0U, 1U, 100U, 2047U, 2048U, 50000U}) {
    std::vector<std::uint64_t> values;
    for (std::size_t i = 0; i < size; ++i) {
      values.push_back(
          Pack(static_cast<std::uint32_t>(Uniform(5, i) * (i % 3 == 0 ? 10 : 4e9)), i));
    }
    std::vector<std::uint64_t> expected = values;
    std::sort(expected.begin(), expected.end());
    SortPacked(values, scratch);
    EXPECT_EQ(values, expected);
  }
}

TEST(PackedSortTest, KeysKeepTheOrderOfValues) {
  const float values[] = {-kInf, -1e30F, -2.5F, -1e-40F, 0.0F, 1e-40F, 1.0F, 1e30F, kInf};
  for (std::size_t i = 1; i < std::size(values); ++i) {
    EXPECT_LT(AscendingKey(values[i - 1]), AscendingKey(values[i]));
  }
  EXPECT_EQ(AscendingKey(-0.0F), AscendingKey(0.0F));
}

}  // namespace
}  // namespace vivace
