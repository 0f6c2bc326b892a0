#include "http/assets.h"

#include <gtest/gtest.h>

namespace vivace::http {
namespace {

// "<p>hello" as gzip -9 makes it.
constexpr std::string_view kPage{
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xb3\x29\xb0\xcb\x48\xcd\xc9\xc9\x07\x00\x36\x7e\x6a"
    "\x95\x08\x00\x00\x00",
    28};

class AssetsTest : public ::testing::Test {
 protected:
  AssetsTest() : assets_("default-src 'none'") {
    assets_.Add({.path = "/", .content_type = "text/html", .bytes = kPage, .gzip = true});
    assets_.Add({.path = "/app.1a2b.js",
                 .content_type = "text/javascript",
                 .bytes = "1",
                 .immutable = true});
  }
  Response Ask(std::string path, Headers headers = {}) {
    Request request;
    request.path = std::move(path);
    request.headers = std::move(headers);
    return assets_.Answer(request.path, request);
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
  EXPECT_EQ(page.headers.Get("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(page.headers.Get("Referrer-Policy"), "no-referrer");
}

TEST_F(AssetsTest, WhatNeverChangesIsKeptForEver) {
  const Response script = Ask("/app.1a2b.js");
  EXPECT_EQ(script.headers.Get("Cache-Control"), "public, max-age=31536000, immutable");
  EXPECT_FALSE(script.headers.Has("Content-Security-Policy"));
}

TEST_F(AssetsTest, AKnownTagSavesTheBody) {
  const std::string etag(Ask("/").headers.Get("ETag"));
  EXPECT_TRUE(etag.starts_with('"')) << "strong: " << etag;
  for (const std::string& known : {etag, "\"x\", " + etag, "W/" + etag, std::string("*")}) {
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
    EXPECT_EQ(Ask("/", {{"Accept-Encoding", takes}}).body, kPage) << takes;
  for (const char* refuses : {"", "br", "gzip;q=0", "gzip; q=0.000", "xgzip"})
    EXPECT_EQ(Ask("/", {{"Accept-Encoding", refuses}}).body, "<p>hello") << refuses;
  EXPECT_EQ(Ask("/app.1a2b.js", {{"Accept-Encoding", "gzip"}}).body, "1");
}

TEST_F(AssetsTest, EachCodingHasATagOfItsOwn) {
  const Headers takes = {{"Accept-Encoding", "gzip"}};
  const std::string plain(Ask("/").headers.Get("ETag"));
  const std::string zipped(Ask("/", takes).headers.Get("ETag"));
  EXPECT_NE(plain, zipped);
  EXPECT_EQ(Ask("/", {{"Accept-Encoding", "gzip"}, {"If-None-Match", plain}}).status, 200);
  EXPECT_EQ(Ask("/", {{"Accept-Encoding", "gzip"}, {"If-None-Match", zipped}}).status, 304);
}

TEST_F(AssetsTest, OnlyWhatWasAddedIsThere) {
  for (const char* path : {"", "/index.html", "/../etc/passwd", "/app.1a2b.js/", "//"})
    EXPECT_EQ(Ask(path).status, 404) << path;
}

}  // namespace
}  // namespace vivace::http
