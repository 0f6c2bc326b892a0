#include "api/read_speed.h"

#include <gtest/gtest.h>

namespace vivace {
namespace {

TEST(ReadSpeedWindow, IsBytesOverTheTimeThatReadingTook) {
  ReadSpeedWindow window;
  EXPECT_EQ(window.Add(0, {.bytes = 500, .seconds = 1}), 0) << "the first look knows no before";
  EXPECT_EQ(window.Add(1, {.bytes = 600, .seconds = 1.5}), 200);
  EXPECT_EQ(window.Add(2, {.bytes = 900, .seconds = 2}), 400);
}

TEST(ReadSpeedWindow, ForgetsWhatWasLongAgo) {
  ReadSpeedWindow window;
  window.Add(0, {.bytes = 0, .seconds = 0});
  window.Add(1, {.bytes = 100, .seconds = 1});
  window.Add(5, {.bytes = 100, .seconds = 1});
  EXPECT_EQ(window.Add(9, {.bytes = 100, .seconds = 1}), 0) << "nothing was read lately";
}

TEST(ReadSpeedWindow, WhoLooksSeldomSeesTheTimeSinceTheLastLook) {
  ReadSpeedWindow window;
  window.Add(0, {.bytes = 0, .seconds = 0});
  EXPECT_EQ(window.Add(60, {.bytes = 300, .seconds = 1}), 300);
  EXPECT_EQ(window.Add(120, {.bytes = 400, .seconds = 2}), 100);
}

TEST(ReadSpeedWindow, AModelThatIsGoneIsNoNegativeSpeed) {
  ReadSpeedWindow window;
  window.Add(0, {.bytes = 1000, .seconds = 10});
  EXPECT_EQ(window.Add(1, {.bytes = 100, .seconds = 1}), 0);
  EXPECT_EQ(window.Add(2, {.bytes = 150, .seconds = 2}), 50);
}

}  // namespace
}  // namespace vivace
