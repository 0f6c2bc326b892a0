#include "kernels/tiers.h"

namespace vivace {
namespace {

#if defined(__x86_64__)
constexpr IsaFlags kAvx2 = {.avx2 = true, .fma = true, .f16c = true};

constexpr IsaFlags kAvxVnni = [] {
  IsaFlags flags = kAvx2;
  flags.avxvnni = true;
  return flags;
}();

constexpr IsaFlags kAvx512 = [] {
  IsaFlags flags = kAvx2;
  flags.avx512f = true;
  flags.avx512bw = true;
  flags.avx512dq = true;
  flags.avx512vl = true;
  flags.avx512vnni = true;
  return flags;
}();

constexpr IsaFlags kAvx512Gfni = [] {
  IsaFlags flags = kAvx512;
  flags.gfni = true;
  return flags;
}();

constexpr IsaFlags kAmx = [] {
  IsaFlags flags = kAvx512Gfni;
  flags.amx_int8 = true;
  return flags;
}();
#endif

std::string Available(const std::vector<Tier>& tiers) {
  std::string names;
  for (const Tier& tier : tiers) {
    if (!tier.Usable()) continue;
    if (!names.empty()) names += ", ";
    names += tier.kernels->name;
  }
  return names;
}

}  // namespace

std::vector<Tier> TiersFor(const IsaFlags& flags) {
  return {
      {&portable::kKernels, {}},
#if defined(__x86_64__)
      {&avx2::kKernels, Missing(kAvx2, flags)},
      {&avxvnni::kKernels, Missing(kAvxVnni, flags)},
      {&avx512::kKernels, Missing(kAvx512, flags)},
      {&avx512gfni::kKernels, Missing(kAvx512Gfni, flags)},
      {&amx::kKernels, Missing(kAmx, flags)},
#endif
  };
}

Result<const KernelTable*> SelectFrom(const std::vector<Tier>& tiers, std::string_view name) {
  const KernelTable* fastest = nullptr;
  for (const Tier& tier : tiers) {
    if (tier.Usable()) fastest = tier.kernels;
    if (name != tier.kernels->name) continue;
    if (tier.Usable()) return tier.kernels;
    return Fail(ErrorKind::kUnsupported, "kernels \"" + std::string(name) +
                                             "\" are not available, this CPU or its system lacks " +
                                             IsaFlagNames(tier.missing) + "; it has " +
                                             Available(tiers));
  }
  if (name.empty()) return fastest;
  return Fail(
      ErrorKind::kUnsupported,
      "kernels \"" + std::string(name) + "\" are not available, this CPU has " + Available(tiers));
}

}  // namespace vivace
