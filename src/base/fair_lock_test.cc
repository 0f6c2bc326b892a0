#include "base/fair_lock.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace vivace {
namespace {

TEST(FairLockTest, OneAtATimeAndNobodyForgotten) {
  constexpr int kThreads = 3;
  constexpr int kRounds = 500;
  FairLock lock;
  std::atomic<int> inside = 0;
  std::vector<int> order;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < kRounds; ++round) {
        const std::lock_guard guard(lock);
        EXPECT_EQ(inside.fetch_add(1), 0);
        order.push_back(thread);
        inside.fetch_sub(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order.size(), static_cast<std::size_t>(kThreads * kRounds));
  EXPECT_FALSE(lock.in_use());
}

}  // namespace
}  // namespace vivace
