#include "http/target.h"

#include <gtest/gtest.h>

namespace vivace::http {
namespace {

TEST(Target, SplitsAndDecodes) {
  const auto target = ParseTarget("/v1/mod%20els/org%2Fname?a=1&b=x%26y+z&flag&&a=2#part");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/v1/mod els/org/name");
  ASSERT_EQ(target->segments.size(), 3U);
  EXPECT_EQ(target->segments[2], "org/name");
  EXPECT_EQ(target->query.size(), 4U);
  EXPECT_EQ(target->query.Find("a"), "1");
  EXPECT_EQ(target->query.Find("b"), "x&y z");
  EXPECT_EQ(target->query.Find("flag"), "");
  EXPECT_EQ(target->query.Find("none"), std::nullopt);
}

TEST(Target, AProxysFormAndTheStarAreTaken) {
  EXPECT_EQ(ParseTarget("http://localhost:8080/health?x=1")->path, "/health");
  EXPECT_EQ(ParseTarget("HTTPS://localhost")->path, "/");
  EXPECT_EQ(ParseTarget("*")->path, "*");
  EXPECT_EQ(ParseTarget("/")->path, "/");
}

TEST(Target, APlusIsASpaceInTheQueryOnly) {
  const auto target = ParseTarget("/a+b?c+d=e+f");
  EXPECT_EQ(target->path, "/a+b");
  EXPECT_EQ(target->query.Find("c d"), "e f");
}

TEST(Target, BadOnesAreNamed) {
  for (const char* bad : {"", "health", "/%", "/%4", "/%zz", "/a?b=%", "/a?%q=1", "/%00",
                          "/a?b=%00", "ftp://x/y", "http://host?x"}) {
    const auto target = ParseTarget(bad);
    ASSERT_FALSE(target) << bad;
    EXPECT_EQ(target.error().kind, ErrorKind::kBadInput);
    EXPECT_NE(target.error().message, "");
  }
}

TEST(Target, DotsAreNoWayUp) { EXPECT_EQ(ParseTarget("/a/%2e%2e/../b")->path, "/a/../../b"); }

}  // namespace
}  // namespace vivace::http
