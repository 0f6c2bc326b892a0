#include "hub/curl_request.h"

#include "gtest/gtest.h"

namespace vivace {
namespace {

const std::string kHash(64, 'a');

TEST(AnswerHeadersTest, ARedirectAnnouncesTheFile) {
  AnswerHeaders headers;
  headers.Take("HTTP/2 302 \r\n");
  headers.Take("X-Linked-Size: 491400032\r\n");
  headers.Take("X-Linked-ETag: \"" + kHash + "\"\r\n");
  headers.Take("Content-Length: 1234\r\n");
  headers.Take("HTTP/1.1 206 Partial Content\r\n");
  headers.Take("content-range: bytes 100-491400031/491400032\r\n");
  EXPECT_EQ(headers.status, 206);
  EXPECT_EQ(headers.length, 0U);
  EXPECT_EQ(headers.range_total, 491400032U);
  EXPECT_EQ(headers.announced.size, 491400032U);
  EXPECT_EQ(headers.announced.sha256, kHash);
}

TEST(AnswerHeadersTest, TheFirstHostsWordCounts) {
  AnswerHeaders headers;
  headers.Take("x-linked-etag: \"" + kHash + "\"");
  headers.Take("x-linked-etag: \"" + std::string(64, 'b') + "\"");
  EXPECT_EQ(headers.announced.sha256, kHash);
}

TEST(AnswerHeadersTest, OddLinesAreIgnored) {
  AnswerHeaders headers;
  for (const char* line :
       {"", "\r\n", "HTTP/", "HTTP/1.1", "http/1.1 abc", "content-length: -5",
        "content-length: 99999999999999999999999", "content-range: bytes */x", "content-range",
        "x-linked-etag: \"abc\"", "x-linked-etag:", "x-linked-size: many"}) {
    headers.Take(line);
  }
  headers.Take("x-linked-etag: \"" + std::string(40, 'a') + "\"");  // no SHA-256
  headers.Take("x-linked-etag: \"" + std::string(65, 'a') + "\"");
  EXPECT_EQ(headers.status, 0);
  EXPECT_EQ(headers.length, 0U);
  EXPECT_EQ(headers.range_total, 0U);
  EXPECT_EQ(headers.announced.size, 0U);
  EXPECT_EQ(headers.announced.sha256, "");
}

}  // namespace
}  // namespace vivace
