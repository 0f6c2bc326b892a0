#include "kernels/dispatch.h"

#include <algorithm>
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
  // A panel of unpacked weights; scales and sums of the rows, in tiles; and the values of as many
  // as go without a panel.
  constexpr std::int64_t kPanel = std::int64_t{1} << 16;
  constexpr std::int64_t kTileRows = 8;
  constexpr std::int64_t kRowsWithoutPanel = 96;
  return static_cast<std::size_t>(kPanel + (rows + kTileRows) * (3 * k / 8 + 64) +
                                  std::min(rows, kRowsWithoutPanel) * k);
}

}  // namespace vivace
