#include "base/result.h"

#include <memory>

#include "gtest/gtest.h"

#include "base/check.h"

namespace vivace {
namespace {

Result<int> ParseCount(int count) {
  if (count < 0) return Fail(ErrorKind::kBadInput, "count is negative");
  return count;
}

Result<void> Require(int count) {
  VIVACE_RETURN_IF_ERROR(ParseCount(count));
  return {};
}

Result<std::unique_ptr<int>> MakeCounter(int count) {
  auto parsed = ParseCount(count);
  if (!parsed) return Context(std::move(parsed).error(), "header");
  return std::make_unique<int>(*parsed);
}

TEST(ResultTest, CarriesAMoveOnlyValue) {
  auto counter = MakeCounter(3);
  ASSERT_TRUE(counter.has_value());
  EXPECT_EQ(**counter, 3);
}

TEST(ResultTest, ContextSaysWhereOutermostFirst) {
  const auto counter = MakeCounter(-1);
  ASSERT_FALSE(counter.has_value());
  EXPECT_EQ(counter.error().message, "header: count is negative");
  EXPECT_EQ(counter.error().kind, ErrorKind::kBadInput);
}

TEST(ResultTest, ReturnIfErrorPassesTheErrorOn) {
  EXPECT_TRUE(Require(1).has_value());
  EXPECT_EQ(Require(-1).error().message, "count is negative");
}

TEST(CheckDeathTest, ABrokenInvariantStopsTheProcess) {
  EXPECT_DEATH(VIVACE_CHECK(1 > 2, "one is not two"), "check failed: one is not two");
}

}  // namespace
}  // namespace vivace
