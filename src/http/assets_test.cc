#include "http/assets.h"

#include <gtest/gtest.h>

namespace vivace::http {
namespace {

class AssetsTest : public ::testing::Test {
 protected:
  AssetsTest() : assets_("default-src 'none'") {
    assets_.Add({.path = "/", .content_type = "text/html", .bytes = "<p>hello", .gzip = "ZIPPED"});
    assets_.Add({.path = "/app.1a2b.js",
                 .content_type = "text/javascript",
                 .bytes = "1",
                 .immutable = true});
  }
  Response Ask(std::string path, Headers headers = {}) {
    Request request;
    request.path = std::move(path);
    request.headers = std::move(headers);
    return assets_.Answer(request);
  }
  Assets assets_;
};

TEST_F(AssetsTest, APageHasItsTypePolicyAndTag) {
  const Response page = Ask("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.body, "<p>hello");
  EXPECT_EQ(page.content_type, "text/html");
  EXPECT_EQ(page.headers.Get("Content-Security-Policy"), "default-src 'none'");
  EXPECT_EQ(page.headers.Get("Cache-Control"), "no-cache");
  EXPECT_EQ(page.headers.Get("Vary"), "Accept-Encoding");
}

TEST_F(AssetsTest, WhatNeverChangesIsKeptForEver) {
  const Response script = Ask("/app.1a2b.js");
  EXPECT_EQ(script.headers.Get("Cache-Control"), "public, max-age=31536000, immutable");
  EXPECT_FALSE(script.headers.Has("Content-Security-Policy"));
}

TEST_F(AssetsTest, AKnownTagSavesTheBody) {
  const std::string etag(Ask("/").headers.Get("ETag"));
  for (const std::string& known : {etag, "\"x\", " + etag, std::string("*")}) {
    const Response answer = Ask("/", {{"If-None-Match", known}});
    EXPECT_EQ(answer.status, 304) << known;
    EXPECT_EQ(answer.body, "");
    EXPECT_EQ(answer.headers.Get("ETag"), etag);
  }
  EXPECT_EQ(Ask("/", {{"If-None-Match", "\"other\""}}).status, 200);
  EXPECT_NE(Ask("/app.1a2b.js").headers.Get("ETag"), etag);
}

TEST_F(AssetsTest, GzipGoesOnlyToThoseWhoTakeIt) {
  for (const char* takes : {"gzip", "br, gzip", "GZIP;q=0.5", "deflate;q=1, gzip; q=1"})
    EXPECT_EQ(Ask("/", {{"Accept-Encoding", takes}}).body, "ZIPPED") << takes;
  for (const char* refuses : {"", "br", "gzip;q=0", "gzip; q=0.000", "xgzip"})
    EXPECT_EQ(Ask("/", {{"Accept-Encoding", refuses}}).body, "<p>hello") << refuses;
  EXPECT_EQ(Ask("/app.1a2b.js", {{"Accept-Encoding", "gzip"}}).body, "1");
}

TEST_F(AssetsTest, OnlyWhatWasAddedIsThere) {
  for (const char* path : {"", "/index.html", "/../etc/passwd", "/app.1a2b.js/", "//"})
    EXPECT_EQ(Ask(path).status, 404) << path;
}

}  // namespace
}  // namespace vivace::http
