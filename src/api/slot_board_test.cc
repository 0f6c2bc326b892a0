#include "api/slot_board.h"

#include <gtest/gtest.h>

namespace vivace {
namespace {

TEST(SlotBoard, TheLowestFreeSlotIsTaken) {
  SlotBoard board(2);
  const auto settings = std::make_shared<const Json>(Json::object());
  EXPECT_EQ(board.Take(settings, 5), 0);
  EXPECT_EQ(board.Take(settings, 5), 1);
  EXPECT_EQ(board.Take(settings, 5), -1);
  board.Leave(0);
  EXPECT_EQ(board.Take(settings, 5), 0);
  const auto views = board.List();
  EXPECT_EQ(views[0].task, 2);
  EXPECT_EQ(views[1].task, 1);
}

TEST(SlotBoard, AFreeSlotShowsWhatRanThereLast) {
  SlotBoard board(1);
  EXPECT_EQ(board.List()[0].task, -1);
  const std::int64_t id = board.Take(nullptr, 9);
  board.Update(id, {.prompt_tokens = 10, .cached_tokens = 4, .decoded_tokens = 3}, 10);
  board.NoteLineBreak(id);
  EXPECT_TRUE(board.List()[0].busy);
  board.Leave(id);
  const SlotBoard::View view = board.List()[0];
  EXPECT_FALSE(view.busy);
  EXPECT_EQ(view.max_tokens, 9);
  EXPECT_EQ(view.prompt_tokens, 10);
  EXPECT_EQ(view.evaluated_tokens, 10);
  EXPECT_EQ(view.cached_tokens, 4);
  EXPECT_EQ(view.decoded_tokens, 3);
  EXPECT_TRUE(view.has_line_break);
}

TEST(SlotBoard, WhoHasNoSlotIsNotShown) {
  SlotBoard board(0);
  EXPECT_EQ(board.Take(nullptr, 1), -1);
  board.Update(-1, {}, 0);
  board.NoteLineBreak(-1);
  board.Leave(-1);
  EXPECT_TRUE(board.List().empty());
}

}  // namespace
}  // namespace vivace
