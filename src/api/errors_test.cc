#include "api/errors.h"

#include "gtest/gtest.h"

namespace vivace {
namespace {

TEST(ErrorsTest, KindsBecomeStatuses) {
  const std::pair<ErrorKind, int> statuses[] = {
      {ErrorKind::kBadInput, 400},  {ErrorKind::kNotFound, 404},  {ErrorKind::kIo, 500},
      {ErrorKind::kExhausted, 503}, {ErrorKind::kCancelled, 503}, {ErrorKind::kUnsupported, 501}};
  for (const auto& [kind, status] : statuses) {
    EXPECT_EQ(ApiError(Error{kind, "what"}).status, status);
  }
}

TEST(ErrorsTest, EachDialectHasItsShape) {
  ApiError error = ErrorOfStatus(400, "wrong");
  error.more = {{"n_ctx", 5}};
  EXPECT_EQ(Dump(ErrorJson(Dialect::kOpenAi, error)),
            R"({"error":{"code":400,"message":"wrong","type":"invalid_request_error","n_ctx":5}})");
  EXPECT_EQ(Dump(ErrorJson(Dialect::kAnthropic, error)),
            R"({"type":"error","error":{"type":"invalid_request_error","message":"wrong"}})");
  EXPECT_EQ(Dump(ErrorJson(Dialect::kOllama, error)), R"({"error":"wrong"})");
}

TEST(ErrorsTest, PathsTellTheDialect) {
  EXPECT_EQ(DialectOf("/api/chat"), Dialect::kOllama);
  EXPECT_EQ(DialectOf("/v1/messages/count_tokens"), Dialect::kAnthropic);
  EXPECT_EQ(DialectOf("/v1/chat/completions"), Dialect::kOpenAi);
  EXPECT_EQ(DialectOf(""), Dialect::kOpenAi);
}

TEST(ErrorsTest, WhoFindsNoPlaceMayComeAgain) {
  EXPECT_TRUE(
      ErrorResponse(Dialect::kOllama, ErrorOfStatus(503, "full")).headers.Has("Retry-After"));
  EXPECT_FALSE(
      ErrorResponse(Dialect::kOllama, ErrorOfStatus(400, "no")).headers.Has("Retry-After"));
}

TEST(DumpTest, BrokenTextBecomesReplacementCharacters) {
  EXPECT_EQ(Dump({{"text", "a\xff"}}), "{\"text\":\"a\ufffd\"}");
}

}  // namespace
}  // namespace vivace
