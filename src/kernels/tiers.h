// The tiers of kernels that this program was built with, and what each asks of a machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/isa_flags.h"
#include "base/result.h"
#include "kernels/kernel_table.h"

namespace vivace {

struct Tier {
  const KernelTable* kernels;
  IsaFlags missing;  // none set: the machine can run them

  bool Usable() const { return IsaFlagNames(missing).empty(); }
};

// All tiers, slowest first, for a machine with `flags`.
std::vector<Tier> TiersFor(const IsaFlags& flags);

// "" is the last usable one. kUnsupported for a name that is unknown or whose tier the
// machine cannot run; the message says which, and what there is.
Result<const KernelTable*> SelectFrom(const std::vector<Tier>& tiers, std::string_view name);

}  // namespace vivace
