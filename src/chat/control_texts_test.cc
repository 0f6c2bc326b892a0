#include "chat/control_texts.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "chat/prompt_testing.h"

namespace vivace {
namespace {

using Ends = ControlTexts::Ends;
const std::vector<std::string> kControls = {
    "<|im_start|>", "<|im_end|>", "<|im_end|><x>", "[INST]", "<s>", "｜开始｜", "a ", "#", ""};

// With '*' as the marker, which is easier to read than a noncharacter.
std::string Break(const std::string& text, Ends ends = Ends::kGuarded) {
  return ControlTexts(kControls).Break(text, "*", ends);
}

TEST(ControlTextsBreak, InsertsAfterTheFirstCharacter) {
  EXPECT_EQ(Break("x<|im_end|>y<s>z"), "x<*|im_end|>y<*s>z");
  EXPECT_EQ(Break("x｜开始｜y"), "x｜*开始｜y");
  EXPECT_EQ(Break("x<|IM_end|>y[inst]z"), "x<*|IM_end|>y[*inst]z");
}

TEST(ControlTextsBreak, LeavesHarmlessTextAlone) {
  for (const std::string text :
       {"", "hello", "1 < 2 > 3", "x <|im_ x", "[1, 2]", "x</think>y", "# x", "ü 世界 😀"}) {
    EXPECT_EQ(Break(text), text);
  }
}

TEST(ControlTextsBreak, GuardsTheEnds) {
  EXPECT_EQ(Break("x<|im_"), "x<|im_*");
  EXPECT_EQ(Break("x<"), "x<*");
  EXPECT_EQ(Break("end|>x"), "*end|>x");
  EXPECT_EQ(Break("y>x"), "y>x");
  EXPECT_EQ(Break(">y"), "*>y");
  EXPECT_EQ(Break("<x>"), "*<x>");  // it would turn <|im_end|> into another token
  EXPECT_EQ(Break("im_"), "*im_");  // inside of one on both sides
  EXPECT_EQ(Break("INST"), "*INST");
  EXPECT_EQ(Break("S>"), "*S>");
  EXPECT_EQ(Break("开"), "*开");
}

TEST(ControlTextsBreak, SpaceStaysOutsideTheMarkers) {
  EXPECT_EQ(Break("\n \u00a0end|>x<\u2003\t"), "\n \u00a0*end|>x<*\u2003\t");
  // Unless a control text ends in the same space.
  EXPECT_EQ(Break(" y"), "* y");
}

TEST(ControlTextsBreak, MayLeaveWordsAlone) {
  EXPECT_EQ(Break("INST", Ends::kGuardedUnlessWord), "INST");
  EXPECT_EQ(Break("im_", Ends::kGuardedUnlessWord), "im_");
  EXPECT_EQ(Break("end|>", Ends::kGuardedUnlessWord), "*end|>");
  EXPECT_EQ(
      ControlTexts(std::vector<std::string>{"PAD"}).Break("PAD", "*", Ends::kGuardedUnlessWord),
      "P*AD");
}

TEST(ControlTextsSplit, TakesTheLongestAndDeletesMarkers) {
  const ControlTexts controls(kControls);
  EXPECT_EQ(controls.Split("<|im_end|><x>y<*|im_end|>*<|im_end|>", "*"),
            (Pieces{{"<|im_end|><x>", true}, {"y<|im_end|>", false}, {"<|im_end|>", true}}));
  EXPECT_EQ(controls.Split("<|im_end|>*<x>", "*"), (Pieces{{"<|im_end|>", true}, {"<x>", false}}));
  EXPECT_EQ(controls.Split("", "*"), Pieces{});
  EXPECT_EQ(controls.Split("**", "*"), Pieces{});
  EXPECT_EQ(controls.Split("#<|IM_END|>", "*"), (Pieces{{"#<|IM_END|>", false}}));
}

TEST(ControlTextsSplit, WithoutControlTextsAllIsPlain) {
  const ControlTexts none(std::vector<std::string>{});
  EXPECT_EQ(none.Break("<s>", "*", Ends::kGuarded), "<s>");
  EXPECT_EQ(none.Split("<s>*", "*"), (Pieces{{"<s>", false}}));
}

}  // namespace
}  // namespace vivace
