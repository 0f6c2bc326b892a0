#include "http/exchange.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "http/response_writer.h"

namespace vivace::http {
namespace {

class ExchangeTest : public ::testing::Test {
 protected:
  std::atomic<int> wakes_ = 0;
  std::shared_ptr<Exchange> exchange_ =
      std::make_shared<Exchange>(10, [this] { wakes_.fetch_add(1); });
  std::unique_ptr<ResponseWriter> writer_ = std::make_unique<ResponseWriter>(exchange_);
};

TEST_F(ExchangeTest, ManyWritesAreOneWakeAndOneTake) {
  ASSERT_TRUE(writer_->Start({}));
  ASSERT_TRUE(writer_->Write("ab"));
  ASSERT_TRUE(writer_->Write("cd"));
  ASSERT_TRUE(writer_->End());
  EXPECT_EQ(wakes_, 1);
  const Exchange::Output output = exchange_->Take();
  EXPECT_TRUE(output.head);
  EXPECT_EQ(output.bytes, "abcd");
  EXPECT_TRUE(output.finished);
}

TEST_F(ExchangeTest, CallsOutOfOrderAreRefused) {
  EXPECT_EQ(writer_->Write("x").error().kind, ErrorKind::kBadInput);
  EXPECT_EQ(writer_->End().error().kind, ErrorKind::kBadInput);
  ASSERT_TRUE(writer_->Send({}));
  EXPECT_EQ(writer_->Send({}).error().kind, ErrorKind::kBadInput);
  EXPECT_EQ(writer_->Start({}).error().kind, ErrorKind::kBadInput);
  EXPECT_EQ(writer_->Write("x").error().kind, ErrorKind::kBadInput);
}

TEST_F(ExchangeTest, WhatIsBeingSentCountsAsWaiting) {
  ASSERT_TRUE(writer_->Start({}));
  ASSERT_TRUE(writer_->Write("12345678"));
  exchange_->Take();
  ASSERT_TRUE(writer_->Write("90"));
  const auto over = writer_->Write("x");
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().kind, ErrorKind::kExhausted);
  EXPECT_EQ(over.error().message,
            "the client reads too slowly: 11 bytes wait for it, the limit is 10");
  EXPECT_EQ(writer_->Write("x").error().kind, ErrorKind::kCancelled);
  EXPECT_TRUE(exchange_->Take().overrun);
}

TEST_F(ExchangeTest, OneLargePieceIsNoSlowReader) {
  ASSERT_TRUE(writer_->Start({}));
  ASSERT_TRUE(writer_->Write(std::string(1000, 'x')));
  exchange_->Take();
  exchange_->Take();  // all of it was sent
  ASSERT_TRUE(writer_->Write(std::string(1000, 'x')));
}

TEST_F(ExchangeTest, TheLastCopyThatGoesAbandons) {
  auto copy = std::make_unique<ResponseWriter>(*writer_);
  writer_.reset();
  EXPECT_FALSE(exchange_->Take().abandoned);
  copy.reset();
  EXPECT_TRUE(exchange_->Take().abandoned);
}

TEST_F(ExchangeTest, AFinishedAnswerIsNeitherAbandonedNorStopped) {
  ASSERT_TRUE(writer_->Send({}));
  writer_.reset();
  EXPECT_FALSE(exchange_->Take().abandoned);
  exchange_->Detach();
  EXPECT_FALSE(exchange_->stop_token().stop_requested());
}

TEST_F(ExchangeTest, DetachStopsTheHandlerAndWakesNobody) {
  ASSERT_TRUE(writer_->Start({}));
  exchange_->Take();
  exchange_->Detach();
  EXPECT_TRUE(exchange_->stop_token().stop_requested());
  const int before = wakes_;
  EXPECT_EQ(writer_->Write("x").error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(writer_->End().error().kind, ErrorKind::kCancelled);
  writer_.reset();
  EXPECT_EQ(wakes_, before);
}

TEST_F(ExchangeTest, ACallbackOfTheStopMayUseTheWriter) {
  const std::stop_callback callback(exchange_->stop_token(), [&] {
    EXPECT_EQ(writer_->Send({}).error().kind, ErrorKind::kCancelled);
  });
  exchange_->Detach();
}

TEST(Exchange, WritersOnManyThreadsLoseNothing) {
  const auto exchange = std::make_shared<Exchange>(1 << 20, [] {});
  std::string received;
  {
    const ResponseWriter writer(exchange);
    ASSERT_TRUE(writer.Start({}));
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([writer] {
        for (int i = 0; i < 1000; ++i) EXPECT_TRUE(writer.Write("x"));
      });
    }
    for (int i = 0; i < 100; ++i) received += exchange->Take().bytes;
  }
  received += exchange->Take().bytes;
  EXPECT_EQ(received.size(), 4000U);
}

}  // namespace
}  // namespace vivace::http
