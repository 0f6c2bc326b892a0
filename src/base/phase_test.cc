// Phases whose pieces waiting members do again, with members that are held up on purpose.
// Where a member waits for a flag that only a later phase sets, the job would never end if
// it were waited for.
#include <atomic>
#include <functional>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"

#include "base/thread_team.h"

namespace vivace {
namespace {

constexpr std::int64_t kSize = 203;

// Two arrays that phases compute from each other in turn. Like a forward pass, a phase reads
// all of one array and adds to the other, so a piece that is missing, published twice or made
// of the wrong inputs changes all that follows.
class Chain {
 public:
  using Hook = std::function<void(TeamMember&, int phase)>;

  // Called in the middle of every prepare, compute and publish.
  Hook in_prepare = [](TeamMember&, int) {};
  Hook in_compute = [](TeamMember&, int) {};
  Hook in_publish = [](TeamMember&, int) {};

  void Run(TeamMember& member, int phase, std::int64_t chunk, bool redo = true) {
    const std::vector<std::uint64_t>& from = arrays_[phase % 2];
    std::vector<std::uint64_t>& to = arrays_[1 - phase % 2];
    std::vector<std::uint64_t> own(kSize);
    std::uint64_t sum = 0;
    member.Phase(
        {.count = kSize, .chunk = chunk, .redo = redo},
        [&] {
          for (const std::uint64_t value : from) sum = 3 * sum + value;
          in_prepare(member, phase);
        },
        [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) {
            own[At(i)] = sum ^ (from[At(kSize - 1 - i)] * 0x9E3779B97F4A7C15ULL);
            if (i == begin) in_compute(member, phase);
          }
        },
        [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) {
            to[At(i)] += own[At(i)];
            if (i == begin) in_publish(member, phase);
          }
        });
  }

  // The same by one thread.
  static std::vector<std::uint64_t> Expected(int phases) {
    ThreadTeam team({.threads = 1});
    Chain chain;
    team.Run([&](TeamMember& member) {
      for (int phase = 0; phase < phases; ++phase) chain.Run(member, phase, 7);
    });
    return chain.result(phases);
  }
  const std::vector<std::uint64_t>& result(int phases) const { return arrays_[phases % 2]; }

 private:
  static std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }

  std::vector<std::uint64_t> arrays_[2] = {std::vector<std::uint64_t>(kSize, 1),
                                           std::vector<std::uint64_t>(kSize, 2)};
};

void WaitFor(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::yield();
}

// Threads, microseconds of spinning, size of a piece.
class PhaseTest : public testing::TestWithParam<std::tuple<int, int, int>> {
 protected:
  ThreadTeam team_{{.threads = std::get<0>(GetParam()),
                    .spin = std::chrono::microseconds(std::get<1>(GetParam()))}};
};

TEST_P(PhaseTest, EveryPieceIsPublishedOnce) {
  constexpr int kPhases = 60;
  for (const bool redo : {false, true}) {
    Chain chain;
    for (int phase = 0; phase < kPhases; phase += 4) {  // a job for every four
      team_.Run([&](TeamMember& member) {
        for (int i = 0; i < 4; ++i) chain.Run(member, phase + i, std::get<2>(GetParam()), redo);
      });
    }
    EXPECT_EQ(chain.result(kPhases), Chain::Expected(kPhases)) << redo;
  }
}

TEST_P(PhaseTest, RandomDelaysChangeNothing) {
  constexpr int kPhases = 200;
  Chain chain;
  std::vector<std::minstd_rand> random;
  random.reserve(static_cast<std::size_t>(team_.size()));
  for (int i = 0; i < team_.size(); ++i) random.emplace_back(i + 1);
  const auto delay = [&](unsigned one_in) {
    return [&random, one_in](TeamMember& member, int) {
      auto& own = random[static_cast<std::size_t>(member.index())];
      if (own() % one_in != 0) return;
      std::this_thread::sleep_for(std::chrono::microseconds(own() % 800));
    };
  };
  chain.in_prepare = delay(15);
  chain.in_compute = delay(200);
  chain.in_publish = delay(1000);
  std::vector<std::atomic<int>> visits(kSize);  // late ones, beside those of later loops
  team_.Run([&](TeamMember& member) {
    for (int phase = 0; phase < kPhases; ++phase) {
      // Loops and barriers between phases keep their own promises.
      if (phase % 10 == 0) {
        member.ForEachChunk(kSize, 3, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
        });
      }
      if (phase % 30 == 0) member.Barrier();
      chain.Run(member, phase, std::get<2>(GetParam()));
    }
  });
  EXPECT_EQ(chain.result(kPhases), Chain::Expected(kPhases));
  for (const std::atomic<int>& count : visits) EXPECT_EQ(count, kPhases / 10);
}

INSTANTIATE_TEST_SUITE_P(Sizes, PhaseTest,
                         testing::Combine(testing::Values(1, 2, 3, 8), testing::Values(0, 50),
                                          testing::Values(1, 7, 300)));

// A team of two whose member 1 stops in the first phase until `phases` are over.
void HoldUpMemberOne(Chain& chain, Chain::Hook& hook, int phases, int more) {
  ThreadTeam team({.threads = 2});
  std::atomic<bool> stopped = false;
  std::atomic<bool> go_on = false;
  hook = [&](TeamMember& member, int phase) {
    if (phase > 0) return;
    // Member 0 leaves it something to be held up in.
    if (member.index() == 0) return WaitFor(stopped);
    stopped = true;
    WaitFor(go_on);
  };
  team.Run([&](TeamMember& member) {
    for (int phase = 0; phase < phases + more; ++phase) {
      chain.Run(member, phase, 5);
      if (member.index() == 0 && phase == phases - 1) go_on = true;
    }
  });
  EXPECT_EQ(chain.result(phases + more), Chain::Expected(phases + more));
}

TEST(HeldUpTest, APhaseGoesOnWithoutAMemberInCompute) {
  Chain chain;
  HoldUpMemberOne(chain, chain.in_compute, 1, 0);
}

TEST(HeldUpTest, AndWithoutOneInPrepare) {
  Chain chain;
  HoldUpMemberOne(chain, chain.in_prepare, 1, 0);
}

TEST(HeldUpTest, WhoWakesUpManyPhasesLaterPublishesNothingOld) {
  Chain chain;
  HoldUpMemberOne(chain, chain.in_compute, 100, 0);
}

TEST(HeldUpTest, AndTakesPartAgain) {
  Chain chain;
  HoldUpMemberOne(chain, chain.in_compute, 40, 200);
}

TEST(HeldUpTest, AMemberThatComesLateForTheJobIsNotWaitedFor) {
  ThreadTeam team({.threads = 2});
  Chain chain;
  std::atomic<bool> over = false;
  team.Run([&](TeamMember& member) {
    if (member.index() == 1) WaitFor(over);
    for (int phase = 0; phase < 20; ++phase) chain.Run(member, phase, 5);
    over = true;
  });
  EXPECT_EQ(chain.result(20), Chain::Expected(20));
}

TEST(HeldUpTest, WhoPublishesIsWaitedFor) {
  ThreadTeam team({.threads = 2});
  Chain chain;
  chain.in_publish = [](TeamMember&, int phase) {
    if (phase % 10 == 3) std::this_thread::sleep_for(std::chrono::microseconds(300));
  };
  team.Run([&](TeamMember& member) {
    for (int phase = 0; phase < 20; ++phase) chain.Run(member, phase, 30);
  });
  EXPECT_EQ(chain.result(20), Chain::Expected(20));
}

}  // namespace
}  // namespace vivace
