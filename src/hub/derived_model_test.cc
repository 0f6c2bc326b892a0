#include "hub/derived_model.h"

#include "hub/testing.h"

namespace vivace {
namespace {

class DerivedModelTest : public HubTest {};

TEST_F(DerivedModelTest, IsWrittenFoundListedAndRemoved) {
  const Modelfile mario = {.from = "tiny:q8_0",
                           .parameters = {{"stop", "\"x\""}},
                           .chat_template = "",
                           .system = "You are\nMario.",
                           .adapter = "",
                           .licenses = {},
                           .messages = {}};
  ASSERT_TRUE(WriteDerived("Mario", mario).has_value());
  ASSERT_TRUE(WriteDerived("mario:v2", mario).has_value());
  for (const char* name : {"mario", "MARIO", "mario:latest", "mario:v2"}) {
    const auto found = FindDerived(name);
    ASSERT_TRUE(found.has_value()) << name;
    EXPECT_EQ(found->modelfile, mario);
  }
  const auto all = ListDerived();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "mario:latest");
  EXPECT_TRUE(RemoveDerived("mario").has_value());
  EXPECT_EQ(RemoveDerived("mario").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(FindDerived("mario").error().kind, ErrorKind::kNotFound);
  EXPECT_TRUE(FindDerived("mario:v2").has_value());
  EXPECT_TRUE(ListModels().empty());
}

TEST_F(DerivedModelTest, NamesCannotLeaveTheFolder) {
  const Modelfile file = {.from = "a"};
  for (const char* name : {"", ":", "a:", ":b", "../a", "a/b", "/a", "a:../b", ".a", "a.gguf",
                           "a:b:c", "a b", "default", "a@b"}) {
    EXPECT_EQ(WriteDerived(name, file).error().kind, ErrorKind::kBadInput) << name;
    EXPECT_EQ(FindDerived(name).error().kind, ErrorKind::kNotFound) << name;
    EXPECT_EQ(RemoveDerived(name).error().kind, ErrorKind::kNotFound) << name;
  }
  EXPECT_EQ(WriteDerived(std::string(200, 'a'), file).error().kind, ErrorKind::kBadInput);
}

TEST_F(DerivedModelTest, WhatAModelfileCannotHoldIsRefused) {
  const Modelfile file = {.from = "a", .parameters = {}, .chat_template = "x\"\"\"\ny"};
  EXPECT_EQ(WriteDerived("a", file).error().kind, ErrorKind::kBadInput);
  const Modelfile two_lines = {.from = "a\nSYSTEM b"};
  EXPECT_EQ(WriteDerived("a", two_lines).error().kind, ErrorKind::kBadInput);
}

}  // namespace
}  // namespace vivace
