#include "kernels/dispatch.h"

#include <vector>

#include "base/isa_flags.h"
#include "kernels/tiers.h"

namespace vivace {
namespace {

// Tiles are not usable before the system was asked for them, and it may refuse.
IsaFlags UsableFlags() {
  IsaFlags flags = DetectIsaFlags();
  flags.amx_int8 = flags.amx_int8 && RequestAmx();
  return flags;
}

const std::vector<Tier>& Tiers() {
  static const std::vector<Tier> tiers = TiersFor(UsableFlags());
  return tiers;
}

std::vector<const KernelTable*> Usable() {
  std::vector<const KernelTable*> tables;
  for (const Tier& tier : Tiers()) {
    if (tier.Usable()) tables.push_back(tier.kernels);
  }
  return tables;
}

}  // namespace

std::span<const KernelTable* const> SupportedKernels() {
  static const std::vector<const KernelTable*> tables = Usable();
  return tables;
}

Result<const KernelTable*> SelectKernels(std::string_view name) {
  return SelectFrom(Tiers(), name);
}

MatmulKernel MatmulFor(const KernelTable& kernels, QuantType type) {
  return kernels.matmul[static_cast<std::size_t>(type)];
}

std::size_t MatmulScratchBytes(std::int64_t k, std::int64_t rows) {
  // A panel of 32 unpacked weight rows, what is prepared per activation row, and slack.
  return static_cast<std::size_t>(64 * k + rows * (k / 4) + (std::int64_t{1} << 16));
}

}  // namespace vivace
