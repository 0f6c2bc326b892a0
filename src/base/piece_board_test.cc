#include "base/piece_board.h"

#include "gtest/gtest.h"

namespace vivace {
namespace {

TEST(PieceBoardTest, HandsOutEveryTicketOfAPhaseOnce) {
  PieceBoard board;
  for (std::uint64_t phase = 1; phase <= 3; ++phase) {
    for (std::int64_t ticket = 0; ticket < 4; ++ticket) EXPECT_EQ(board.Take(phase, 4), ticket);
    EXPECT_EQ(board.Take(phase, 4), -1);
  }
}

TEST(PieceBoardTest, WhoIsLateGetsNoTicketOfALaterPhase) {
  PieceBoard board;
  EXPECT_EQ(board.Take(7, 10), 0);
  EXPECT_EQ(board.Take(6, 10), -1);
  EXPECT_EQ(board.Take(7, 10), 1);
}

TEST(PieceBoardTest, APieceIsWonOnceInAPhase) {
  PieceBoard board;
  EXPECT_FALSE(board.IsWon(1, 5));
  EXPECT_TRUE(board.Win(1, 5));
  EXPECT_TRUE(board.IsWon(1, 5));
  EXPECT_FALSE(board.Win(1, 5));
  EXPECT_FALSE(board.IsWon(1, 4));
  EXPECT_TRUE(board.Win(9, 5));
  EXPECT_TRUE(board.IsWon(8, 5));
  EXPECT_FALSE(board.Win(8, 5));
}

TEST(PieceBoardTest, NumbersMayPass32Bits) {
  PieceBoard board;
  constexpr std::uint64_t kFar = (1ULL << 40) + 3;
  EXPECT_TRUE(board.Win(2, 0));
  EXPECT_TRUE(board.Win(kFar, 0));
  EXPECT_FALSE(board.Win(2, 0));
  EXPECT_EQ(board.Take(kFar, 2), 0);
  EXPECT_EQ(board.Take(kFar - 1, 2), -1);
  EXPECT_EQ(board.Take(kFar, 2), 1);
  EXPECT_EQ(board.Take(kFar, 2), -1);
}

TEST(PieceBoardTest, TheLastPieceEndsThePhase) {
  PieceBoard board;
  for (int phase = 0; phase < 2; ++phase) {
    EXPECT_FALSE(board.Count(3));
    EXPECT_FALSE(board.Count(3));
    EXPECT_TRUE(board.Count(3));
  }
}

}  // namespace
}  // namespace vivace
