#include "machine/limits.h"

#include <filesystem>

#include "gtest/gtest.h"

#include "kernels/dispatch.h"
#include "machine/machine_json.h"
#include "machine/read_target.h"

namespace vivace {
namespace {

constexpr std::size_t kMb = std::size_t{1} << 20;

TEST(SpreadTest, MedianAndRange) {
  EXPECT_EQ(SpreadOf({}).median, 0);
  EXPECT_EQ(SpreadOf({3}).median, 3);
  const Spread odd = SpreadOf({5, 1, 9});
  EXPECT_EQ(odd.median, 5);
  EXPECT_EQ(odd.min, 1);
  EXPECT_EQ(odd.max, 9);
  EXPECT_EQ(SpreadOf({4, 1, 2, 9}).median, 3);
}

TEST(SpreadTest, JsonHasFourDigits) {
  EXPECT_EQ(SpreadJson({.median = 12345678, .min = 0, .max = 1.23456e-5}, 1e-3).dump(),
            R"({"median":12350.0,"min":0.0,"max":1.235e-08})");
}

TEST(LimitsTest, BytesToRead) {
  EXPECT_EQ(ReadBytesFor(0, 0), 256 * kMb);
  EXPECT_EQ(ReadBytesFor(32 << 20, std::int64_t{24} << 30), 256 * kMb);
  EXPECT_EQ(ReadBytesFor(384 << 20, std::int64_t{64} << 30), 1536 * kMb);
  EXPECT_EQ(ReadBytesFor(384 << 20, std::int64_t{1} << 30), 256 * kMb);
  EXPECT_EQ(ReadBytesFor(0, 1), 16 * kMb);
}

TEST(LimitsTest, EveryKindOfMemoryIsReadWhole) {
  ThreadTeam team({.threads = 2});
  for (const PageKind pages : {PageKind::kHuge, PageKind::kSmall}) {
    const auto target = ReadTarget::OfMemory(4 * kMb + 4096, pages, team);
    ASSERT_TRUE(target.has_value());
    EXPECT_EQ(target->bytes(), 4 * kMb + 4096);
    EXPECT_GT(target->Read(team, 1), 0);
    EXPECT_GT(target->Read(team, 2), 0);
    if (pages == PageKind::kSmall) {
      EXPECT_EQ(target->huge_bytes(), 0U);
    }
  }
  EXPECT_FALSE(ReadTarget::OfFile("/no/such/folder", kMb).has_value());
}

TEST(LimitsTest, AllFiguresAreThere) {
  ThreadTeam team({.threads = 2});
  double last = 0;
  const auto limits =
      MeasureLimits(team, {.bytes = 4 * kMb,
                           .file_folder = std::filesystem::temp_directory_path().string(),
                           .samples = 1,
                           .progress = [&](double share) { last = share; }});
  ASSERT_TRUE(limits.has_value());
  EXPECT_EQ(last, 1);
  EXPECT_EQ(limits->threads, 2);
  EXPECT_GT(limits->best_read(), 0);
  ASSERT_EQ(limits->int8.size(), SupportedKernels().size());
  for (const TierPeak& peak : limits->int8) EXPECT_GT(peak.all_threads.median, 0) << peak.tier;
  const auto json = LimitsJson(*limits);
  EXPECT_TRUE(json["read"]["file"].contains("error") ||
              json["read"]["file"]["all_threads_gb_s"]["median"] > 0);
}

TEST(LimitsTest, AFolderThatCannotBeWrittenIsSaid) {
  ThreadTeam team({.threads = 1});
  const auto limits =
      MeasureLimits(team, {.bytes = 2 * kMb, .file_folder = "/no/such/folder", .samples = 1});
  ASSERT_TRUE(limits.has_value());
  EXPECT_NE(limits->file.error, "");
  EXPECT_TRUE(LimitsJson(*limits)["read"]["file"].contains("error"));
}

}  // namespace
}  // namespace vivace
