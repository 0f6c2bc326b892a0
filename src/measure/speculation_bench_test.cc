#include "measure/speculation_bench.h"

#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "measure/speculation_prompts.h"

namespace vivace {
namespace {

TEST(SpeculationBench, KnowsAnswersThatRepeatThemselves) {
  std::vector<TokenId> tokens;
  for (int i = 0; i < 200; ++i) tokens.push_back(i);
  EXPECT_FALSE(RepeatsItself(tokens));
  for (int i = 0; i < 30; ++i) tokens.push_back(i);  // twice is no loop
  EXPECT_FALSE(RepeatsItself(tokens));
  for (int i = 0; i < 30; ++i) tokens.push_back(i);
  EXPECT_TRUE(RepeatsItself(tokens));
  EXPECT_FALSE(RepeatsItself({}));
}

TEST(SpeculationBench, HasTwelveDifferentPromptsOfEachClass) {
  const auto classes = SpeculationClasses();
  EXPECT_EQ(classes.size(), 5);
  std::set<std::string> all;
  for (const SpeculationClass& kind : classes) {
    EXPECT_EQ(kind.prompts.size(), 12) << kind.name;
    all.insert(kind.prompts.begin(), kind.prompts.end());
  }
  EXPECT_EQ(all.size(), 60);
}

}  // namespace
}  // namespace vivace
