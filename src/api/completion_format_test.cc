#include "api/completion_format.h"

#include <gtest/gtest.h>

namespace vivace {
namespace {

using Paths = std::vector<std::string>;

const Json kAnswer = {
    {"content", "x"}, {"index", 0}, {"settings", {{"seed", 1}, {"deep", {{"est", 2}}}}}};

TEST(PickFields, NoPathsAreAll) { EXPECT_EQ(PickFields(kAnswer, {}), kAnswer); }

TEST(PickFields, KeepTheOrderOfTheRequest) {
  EXPECT_EQ(PickFields(kAnswer, Paths{"index", "content"}).dump(), R"({"index":0,"content":"x"})");
}

TEST(PickFields, SlashesReachIntoObjects) {
  EXPECT_EQ(PickFields(kAnswer, Paths{"settings/seed"}).dump(), R"({"settings/seed":1})");
  EXPECT_EQ(PickFields(kAnswer, Paths{"settings/deep/est"}).dump(), R"({"settings/deep/est":2})");
  EXPECT_EQ(PickFields(kAnswer, Paths{"settings/deep"}).dump(), R"({"settings/deep":{"est":2}})");
}

TEST(PickFields, WhatIsNotThereIsLeftOut) {
  const Paths paths = {"none", "content/x", "settings/none", "/", "settings/", "//", "index/0"};
  EXPECT_EQ(PickFields(kAnswer, paths), Json::object());
}

}  // namespace
}  // namespace vivace
