#include "engine/prefetch_tuning.h"

#include "gtest/gtest.h"

namespace vivace {
namespace {

// Steps of a machine whose step takes cost(distance), with every fifth one disturbed.
template <class Cost>
std::int64_t Tuned(const Cost& cost) {
  PrefetchTuning tuning;
  for (int step = 0; !tuning.done(); ++step) {
    EXPECT_LT(step, 100);
    tuning.Record(cost(tuning.distance()) * (step % 5 == 0 ? 3 : 1));
  }
  return tuning.distance();
}

TEST(PrefetchTuningTest, FindsTheFastestDistance) {
  EXPECT_EQ(Tuned([](std::int64_t distance) { return distance == 0 ? 10.0 : 13.0; }), 0);
  EXPECT_EQ(Tuned([](std::int64_t distance) { return distance == 8192 ? 10.0 : 13.0; }), 8192);
}

TEST(PrefetchTuningTest, KeepsTheFirstWhereThereIsNoDifference) {
  EXPECT_EQ(Tuned([](std::int64_t distance) { return distance == 4096 ? 9.95 : 10.0; }), 2048);
}

TEST(PrefetchTuningTest, TakesWhatIsKnown) {
  PrefetchTuning tuning(4096);
  EXPECT_TRUE(tuning.done());
  tuning.Record(1);
  EXPECT_EQ(tuning.distance(), 4096);
}

}  // namespace
}  // namespace vivace
