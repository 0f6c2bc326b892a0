#include "base/isa_flags.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace vivace {
namespace {

#if defined(__x86_64__)

struct Registers {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
};

// Zeros for a leaf that the processor does not have.
Registers Leaf(unsigned leaf, unsigned subleaf) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

bool Bit(std::uint64_t value, int bit) { return (value >> bit & 1) != 0; }

// Bits of the register states that the system saves: 1, 2 AVX; 5-7 AVX-512; 17, 18 tiles.
std::uint64_t SavedStates() {
  constexpr int kOsxsave = 27;
  if (!Bit(Leaf(1, 0).ecx, kOsxsave)) return 0;
  std::uint32_t low = 0;   // NOLINT(misc-const-correctness): the instruction writes it
  std::uint32_t high = 0;  // NOLINT(misc-const-correctness): the instruction writes it
  // By its bytes: the intrinsic needs a target flag that this file must not have.
  asm volatile(".byte 0x0f, 0x01, 0xd0" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

IsaFlags Detect() {
  constexpr std::uint64_t kAvxStates = 0b110;
  constexpr std::uint64_t kAvx512States = kAvxStates | 0b1110'0000;
  constexpr std::uint64_t kTileStates = std::uint64_t{0b11} << 17;
  const std::uint64_t saved = SavedStates();
  const bool avx = (saved & kAvxStates) == kAvxStates;
  const bool avx512 = (saved & kAvx512States) == kAvx512States;
  const bool tiles = (saved & kTileStates) == kTileStates;
  const Registers one = Leaf(1, 0);
  const Registers seven = Leaf(7, 0);
  const Registers more = Leaf(7, 1);
  return {.avx2 = avx && Bit(seven.ebx, 5),
          .fma = avx && Bit(one.ecx, 12),
          .f16c = avx && Bit(one.ecx, 29),
          .avxvnni = avx && Bit(more.eax, 4),
          .avx512f = avx512 && Bit(seven.ebx, 16),
          .avx512bw = avx512 && Bit(seven.ebx, 30),
          .avx512dq = avx512 && Bit(seven.ebx, 17),
          .avx512vl = avx512 && Bit(seven.ebx, 31),
          .avx512vnni = avx512 && Bit(seven.ecx, 11),
          .avx512bf16 = avx512 && Bit(more.eax, 5),
          .avx512vbmi = avx512 && Bit(seven.ecx, 1),
          .gfni = Bit(seven.ecx, 8),
          .amx_int8 = tiles && Bit(seven.edx, 24) && Bit(seven.edx, 25)};
}

#elif defined(__aarch64__)

IsaFlags Detect() {
  const unsigned long first = getauxval(AT_HWCAP);
  const unsigned long second = getauxval(AT_HWCAP2);
  return {.neon = (first & HWCAP_ASIMD) != 0,
          .dotprod = (first & HWCAP_ASIMDDP) != 0,
          .i8mm = (second & HWCAP2_I8MM) != 0};
}

#else

IsaFlags Detect() { return {}; }

#endif

constexpr struct {
  bool IsaFlags::*flag;
  const char* name;
} kNamed[] = {
    {&IsaFlags::avx2, "avx2"},
    {&IsaFlags::fma, "fma"},
    {&IsaFlags::f16c, "f16c"},
    {&IsaFlags::avxvnni, "avxvnni"},
    {&IsaFlags::avx512f, "avx512f"},
    {&IsaFlags::avx512bw, "avx512bw"},
    {&IsaFlags::avx512dq, "avx512dq"},
    {&IsaFlags::avx512vl, "avx512vl"},
    {&IsaFlags::avx512vnni, "avx512vnni"},
    {&IsaFlags::avx512bf16, "avx512bf16"},
    {&IsaFlags::avx512vbmi, "avx512vbmi"},
    {&IsaFlags::gfni, "gfni"},
    {&IsaFlags::amx_int8, "amx_int8"},
    {&IsaFlags::neon, "neon"},
    {&IsaFlags::dotprod, "dotprod"},
    {&IsaFlags::i8mm, "i8mm"},
};
static_assert(sizeof(IsaFlags) == sizeof kNamed / sizeof kNamed[0], "every flag has a name");

}  // namespace

IsaFlags DetectIsaFlags() { return Detect(); }

std::string IsaFlagNames(const IsaFlags& flags) {
  std::string names;
  for (const auto& [flag, name] : kNamed) {
    if (!(flags.*flag)) continue;
    if (!names.empty()) names += ' ';
    names += name;
  }
  return names;
}

IsaFlags Missing(const IsaFlags& wanted, const IsaFlags& flags) {
  IsaFlags missing;
  for (const auto& [flag, name] : kNamed) missing.*flag = wanted.*flag && !(flags.*flag);
  return missing;
}

bool RequestAmx() {
#if defined(__x86_64__)
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;
  return DetectIsaFlags().amx_int8 && syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

}  // namespace vivace
