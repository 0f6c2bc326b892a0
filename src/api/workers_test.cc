#include "api/workers.h"

#include <atomic>
#include <future>
#include <stdexcept>

#include "gtest/gtest.h"

namespace vivace {
namespace {

TEST(WorkersTest, JobsRunInTheirOrder) {
  Workers workers(1, 100);
  std::string order;
  std::promise<void> done;
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(workers.Post([&, i] { order += std::to_string(i); }));
  ASSERT_TRUE(workers.Post([&] { done.set_value(); }));
  done.get_future().wait();
  EXPECT_EQ(order, "01234");
}

TEST(WorkersTest, TooManyAreRefused) {
  Workers workers(1, 1);
  std::promise<void> started;
  std::promise<void> go_on;
  ASSERT_TRUE(workers.Post([&] {
    started.set_value();
    go_on.get_future().wait();
  }));
  started.get_future().wait();
  EXPECT_TRUE(workers.Post([] {}));
  EXPECT_FALSE(workers.Post([] {}));
  go_on.set_value();
}

TEST(WorkersTest, AJobThatThrowsHarmsNoOther) {
  Workers workers(1, 100);
  std::promise<void> done;
  ASSERT_TRUE(workers.Post([] { throw std::runtime_error("a fault of ours"); }));
  ASSERT_TRUE(workers.Post([&] { done.set_value(); }));
  done.get_future().wait();
}

TEST(WorkersTest, WhatHasNotBegunIsDroppedAtTheEnd) {
  std::atomic<int> ran = 0;
  {
    Workers workers(1, 100);
    std::promise<void> started;
    workers.Post([&] {
      started.set_value();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      ++ran;
    });
    started.get_future().wait();
    for (int i = 0; i < 10; ++i) workers.Post([&] { ++ran; });
  }
  EXPECT_LT(ran.load(), 11);
  EXPECT_GE(ran.load(), 1);
}

}  // namespace
}  // namespace vivace
