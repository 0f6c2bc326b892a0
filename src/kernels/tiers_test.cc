#include "kernels/tiers.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "kernels/dispatch.h"

namespace vivace {
namespace {

std::string Chosen(const IsaFlags& flags) { return (*SelectFrom(TiersFor(flags), ""))->name; }

std::string Refusal(const IsaFlags& flags, std::string_view name) {
  const auto selected = SelectFrom(TiersFor(flags), name);
  if (selected) return "";
  EXPECT_EQ(selected.error().kind, ErrorKind::kUnsupported);
  return selected.error().message;
}

TEST(TiersTest, ThisMachineRunsWhatItSupports) {
  EXPECT_STREQ(SupportedKernels().front()->name, "portable");
  EXPECT_EQ(*SelectKernels(""), SupportedKernels().back());
  for (const KernelTable* table : SupportedKernels()) EXPECT_EQ(*SelectKernels(table->name), table);
}

TEST(TiersTest, PortableRunsEverywhere) {
  EXPECT_EQ(Chosen({}), "portable");
  EXPECT_EQ(Chosen({.avx512f = true, .amx_int8 = true}), "portable");
}

#if defined(__x86_64__)

constexpr IsaFlags kHaswell = {.avx2 = true, .fma = true, .f16c = true};
constexpr IsaFlags kAlderLake = {
    .avx2 = true, .fma = true, .f16c = true, .avxvnni = true, .gfni = true};
constexpr IsaFlags kSkylakeServer = {.avx2 = true,
                                     .fma = true,
                                     .f16c = true,
                                     .avx512f = true,
                                     .avx512bw = true,
                                     .avx512dq = true,
                                     .avx512vl = true};

IsaFlags CascadeLake() {
  IsaFlags flags = kSkylakeServer;
  flags.avx512vnni = true;
  return flags;
}

IsaFlags IceLake() {
  IsaFlags flags = CascadeLake();
  flags.gfni = true;
  return flags;
}

IsaFlags SapphireRapids() {
  IsaFlags flags = IceLake();
  flags.avxvnni = true;
  flags.amx_int8 = true;
  return flags;
}

TEST(TiersTest, TheBestTierOfKnownMachinesIsChosen) {
  EXPECT_EQ(Chosen(kHaswell), "avx2");
  EXPECT_EQ(Chosen(kAlderLake), "avxvnni");
  EXPECT_EQ(Chosen(kSkylakeServer), "avx2");
  EXPECT_EQ(Chosen(CascadeLake()), "avx512");
  EXPECT_EQ(Chosen(IceLake()), "avx512gfni");
  EXPECT_EQ(Chosen(SapphireRapids()), "amx");
}

TEST(TiersTest, RefusedTilesLeaveTheNextTier) {
  IsaFlags flags = SapphireRapids();
  flags.amx_int8 = false;
  EXPECT_EQ(Chosen(flags), "avx512gfni");
  EXPECT_EQ(Refusal(flags, "amx"),
            "kernels \"amx\" are not available, this CPU or its system lacks amx_int8; it has "
            "portable, avx2, avxvnni, avx512, avx512gfni");
}

TEST(TiersTest, RefusalsNameWhatIsMissingAndWhatThereIs) {
  EXPECT_EQ(Refusal(kHaswell, "avxvnni"),
            "kernels \"avxvnni\" are not available, this CPU or its system lacks avxvnni; it has "
            "portable, avx2");
  EXPECT_EQ(Refusal(kSkylakeServer, "avx512gfni"),
            "kernels \"avx512gfni\" are not available, this CPU or its system lacks avx512vnni "
            "gfni; it has portable, avx2");
  EXPECT_EQ(Refusal({}, "avx2"),
            "kernels \"avx2\" are not available, this CPU or its system lacks avx2 fma f16c; it "
            "has portable");
}

#endif

TEST(TiersTest, UnknownNamesAreRefusedWithWhatThereIs) {
  EXPECT_EQ(Refusal({}, "sse9"), "kernels \"sse9\" are not available, this CPU has portable");
  EXPECT_EQ(Refusal({}, "avxvnni_emulated"),
            "kernels \"avxvnni_emulated\" are not available, this CPU has portable");
}

}  // namespace
}  // namespace vivace
