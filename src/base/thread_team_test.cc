#include "base/thread_team.h"

#include <sys/resource.h>

#include <numeric>

#include "gtest/gtest.h"

namespace vivace {
namespace {

double CpuSeconds() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class ThreadTeamTest : public testing::TestWithParam<int> {
 protected:
  ThreadTeam team_{{.threads = GetParam()}};
};

TEST_P(ThreadTeamTest, EveryIndexIsVisitedOnce) {
  for (const std::int64_t count : {0, 1, 2, 7, 64, 1000}) {
    for (const std::int64_t chunk : {1, 3, 64, 2000}) {
      std::vector<int> visits(static_cast<std::size_t>(count), 0);
      team_.Run([&](TeamMember& member) {
        member.ForEachChunk(count, chunk, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
        });
      });
      EXPECT_EQ(visits, std::vector<int>(static_cast<std::size_t>(count), 1));
    }
  }
}

TEST_P(ThreadTeamTest, BarriersSeparatePhases) {
  constexpr std::int64_t kSize = 40;
  std::vector<std::int64_t> values(kSize, 0);
  constexpr int kPhases = 2000;
  std::atomic<int> mistakes = 0;
  team_.Run([&](TeamMember& member) {
    for (int phase = 0; phase < kPhases; ++phase) {
      member.ForEachChunk(kSize, 1, [&](std::int64_t begin, std::int64_t) {
        std::int64_t& value = values[static_cast<std::size_t>(kSize - 1 - begin)];
        if (value != phase) ++mistakes;
        ++value;
      });
      member.Barrier();
    }
  });
  EXPECT_EQ(mistakes, 0);
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), std::int64_t{0}), kSize * kPhases);
}

TEST_P(ThreadTeamTest, ManyLoopsNeedNoBarrierBetween) {
  std::atomic<std::int64_t> total = 0;
  team_.Run([&](TeamMember& member) {
    for (int loop = 0; loop < 500; ++loop) {
      member.ForEachChunk(10, 3, [&](std::int64_t begin, std::int64_t end) { total += end - begin; });
    }
  });
  EXPECT_EQ(total, 5000);
}

TEST_P(ThreadTeamTest, RunsManyJobs) {
  std::atomic<int> calls = 0;
  for (int job = 0; job < 1000; ++job) team_.Run([&](TeamMember&) { ++calls; });
  EXPECT_EQ(calls, 1000 * team_.size());
}

TEST_P(ThreadTeamTest, AnIdleTeamSleeps) {
  team_.Run([](TeamMember&) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double before = CpuSeconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(CpuSeconds() - before, 0.05);
}

INSTANTIATE_TEST_SUITE_P(Sizes, ThreadTeamTest, testing::Values(1, 2, 3, 8));

}  // namespace
}  // namespace vivace
