#include "http/router.h"

#include <gtest/gtest.h>

namespace vivace::http {
namespace {

class RouterTest : public ::testing::Test {
 protected:
  void Add(std::string_view method, std::string_view pattern) {
    router_.Add(method, pattern, [](const Request&, const ResponseWriter&) {});
    patterns_.emplace_back(pattern);
  }
  Router::Match Find(std::string_view method, std::string_view path) {
    return router_.Find(method, *ParseTarget(path));
  }

  Router router_;
  std::vector<std::string> patterns_;
};

TEST_F(RouterTest, LiteralBeatsNameBeatsRest) {
  Add("GET", "/*");
  Add("GET", "/{page}");
  Add("GET", "/about");
  EXPECT_EQ(Find("GET", "/about").segments.size(), 0U);
  EXPECT_EQ(Find("GET", "/x").segments.Find("page"), "x");
  EXPECT_EQ(Find("GET", "/x/y").segments.Find("*"), "x/y");
  EXPECT_EQ(Find("GET", "/").segments.Find("*"), "");
}

TEST_F(RouterTest, NamesHoldOneSegmentAndAreNeverEmpty) {
  Add("GET", "/slots/{id}/{what}");
  EXPECT_EQ(Find("GET", "/slots/a%2Fb/save").segments.Find("id"), "a/b");
  EXPECT_EQ(Find("GET", "/slots/3/save").segments.Find("what"), "save");
  EXPECT_EQ(Find("GET", "/slots//save").handler, nullptr);
  EXPECT_EQ(Find("GET", "/slots/3").handler, nullptr);
  EXPECT_EQ(Find("GET", "/slots/3/save/").handler, nullptr);
}

TEST_F(RouterTest, ALessSpecialRouteServesAnotherMethod) {
  Add("GET", "/*");
  Add("POST", "/completion");
  EXPECT_NE(Find("POST", "/completion").handler, nullptr);
  EXPECT_NE(Find("GET", "/completion").handler, nullptr);
}

TEST_F(RouterTest, UnknownPathsAndMethodsAreToldApart) {
  Add("GET", "/thing");
  Add("DELETE", "/thing");
  EXPECT_TRUE(Find("GET", "/other").methods.empty());
  const Router::Match match = Find("PUT", "/thing");
  EXPECT_EQ(match.handler, nullptr);
  EXPECT_EQ(Router::Allow(match.methods), "DELETE, GET, HEAD, OPTIONS");
}

TEST_F(RouterTest, HeadFallsBackToGet) {
  Add("GET", "/thing/{x}");
  Add("POST", "/act");
  EXPECT_EQ(Find("HEAD", "/thing/7").segments.Find("x"), "7");
  EXPECT_EQ(Find("HEAD", "/act").handler, nullptr);
}

}  // namespace
}  // namespace vivace::http
