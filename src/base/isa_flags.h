// IsaFlags: the instructions of this processor that kernels can use, where the operating
// system also saves the registers they need.
#pragma once

#include <string>

namespace vivace {

struct IsaFlags {
  // x86-64
  bool avx2 = false;
  bool fma = false;
  bool f16c = false;
  bool avxvnni = false;
  bool avx512f = false;
  bool avx512bw = false;
  bool avx512dq = false;
  bool avx512vl = false;
  bool avx512vnni = false;
  bool avx512bf16 = false;
  bool avx512vbmi = false;
  bool gfni = false;
  bool amx_int8 = false;  // usable after RequestAmx only
  // AArch64
  bool neon = false;
  bool dotprod = false;
  bool i8mm = false;
};

IsaFlags DetectIsaFlags();

// The names of those that are set, as above, with spaces between.
std::string IsaFlagNames(const IsaFlags& flags);

// The flags of `wanted` that `flags` has not.
IsaFlags Missing(const IsaFlags& wanted, const IsaFlags& flags);

// Asks the system for the tile registers, for all threads of the process. Without that
// the first tile instruction ends the process. False where it is refused.
bool RequestAmx();

}  // namespace vivace
