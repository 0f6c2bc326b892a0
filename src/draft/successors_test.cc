#include "draft/successors.h"

#include "gtest/gtest.h"

namespace vivace {
namespace {

TEST(Successors, KnowsWhatCameLast) {
  Successors successors(10);
  EXPECT_EQ(successors.Next(3).next, -1);
  successors.See(3, 4);
  EXPECT_EQ(successors.Next(3).next, 4);
  successors.See(3, 5);
  EXPECT_EQ(successors.Next(3).next, 5);
  EXPECT_EQ(successors.Next(4).next, -1);
}

TEST(Successors, WhatWasConfirmedStaysUntilItFailsAsOften) {
  Successors successors(10);
  for (int i = 0; i < 3; ++i) successors.See(1, 2);
  EXPECT_EQ(successors.Next(1).count, 2);
  successors.See(1, 7);
  successors.See(1, 7);
  EXPECT_EQ(successors.Next(1).next, 2);
  successors.See(1, 7);
  EXPECT_EQ(successors.Next(1).next, 7);
  successors.Clear();
  EXPECT_EQ(successors.Next(1).next, -1);
}

TEST(Successors, CountsNoFurtherThanIsOfUse) {
  Successors successors(10);
  for (int i = 0; i < 100; ++i) successors.See(0, 9);
  EXPECT_EQ(successors.Next(0).count, Successors::kMostCount);
  for (int i = 0; i <= Successors::kMostCount; ++i) successors.See(0, 8);
  EXPECT_EQ(successors.Next(0).next, 8);
}

}  // namespace
}  // namespace vivace
