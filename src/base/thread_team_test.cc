#include "base/thread_team.h"

#include <sys/resource.h>

#include <numeric>
#include <tuple>

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

// Threads, and microseconds of spinning.
class ThreadTeamTest : public testing::TestWithParam<std::tuple<int, int>> {
 protected:
  ThreadTeam team_{{.threads = std::get<0>(GetParam()),
                    .spin = std::chrono::microseconds(std::get<1>(GetParam()))}};
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

TEST_P(ThreadTeamTest, ABarrierWaitsForTheSlowest) {
  std::vector<int> written(static_cast<std::size_t>(team_.size()), 0);
  std::atomic<int> unseen = 0;
  team_.Run([&](TeamMember& member) {
    if (member.index() == member.size() - 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    written[static_cast<std::size_t>(member.index())] = 1;
    member.Barrier();
    if (std::accumulate(written.begin(), written.end(), 0) != member.size()) ++unseen;
  });
  EXPECT_EQ(unseen, 0);
}

TEST_P(ThreadTeamTest, LoopsOfChangingLengthNeedNoBarrierBetween) {
  std::atomic<std::int64_t> total = 0;
  constexpr std::int64_t kLoops = 500;
  team_.Run([&](TeamMember& member) {
    for (std::int64_t loop = 0; loop < kLoops; ++loop) {
      member.ForEachChunk(loop % 23, 3,
                          [&](std::int64_t begin, std::int64_t end) { total += end - begin; });
      if (loop % 7 == 0) member.Barrier();
    }
  });
  std::int64_t expected = 0;
  for (std::int64_t loop = 0; loop < kLoops; ++loop) expected += loop % 23;
  EXPECT_EQ(total, expected);
}

TEST_P(ThreadTeamTest, RunsManyJobs) {
  std::atomic<int> calls = 0;
  int written = 0;  // by the caller between jobs, read by all within
  std::atomic<int> stale = 0;
  for (int job = 0; job < 1000; ++job) {
    written = job;
    team_.Run([&](TeamMember&) {
      ++calls;
      if (written != job) ++stale;
    });
  }
  EXPECT_EQ(calls, 1000 * team_.size());
  EXPECT_EQ(stale, 0);
}

TEST_P(ThreadTeamTest, AnIdleTeamSleeps) {
  team_.Run([](TeamMember&) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double before = CpuSeconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(CpuSeconds() - before, 0.05);
}

INSTANTIATE_TEST_SUITE_P(Sizes, ThreadTeamTest,
                         testing::Combine(testing::Values(1, 2, 3, 8), testing::Values(0, 50)));

TEST(ThreadTeamLifeTest, EndsWhileItsMembersSpinSleepOrHaveNeverRun) {
  for (int round = 0; round < 50; ++round) {
    ThreadTeam unused({.threads = 3});
    ThreadTeam team({.threads = 3, .cpus = {0, 0, 1 << 20}});
    team.Run([](TeamMember&) {});
    if (round % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(ThreadTeamLifeTest, HasAtLeastTheCaller) {
  ThreadTeam team({.threads = -3});
  EXPECT_EQ(team.size(), 1);
  int calls = 0;
  team.Run([&](TeamMember& member) { calls += 1 + member.index(); });
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace vivace
