#include "kernels/dispatch.h"

#include <string>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace vivace {
namespace {

#if defined(__x86_64__)
// Clang does not know this feature by name.
bool HasF16c() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

// These ask for the system's support of the registers too.
bool HasAvx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && HasF16c();
}

bool HasAvx512() {
  return HasAvx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vnni");
}
#endif

std::vector<const KernelTable*> Probe() {
  std::vector<const KernelTable*> tables = {&portable::kKernels};
#if defined(__x86_64__)
  if (HasAvx2()) tables.push_back(&avx2::kKernels);
  if (HasAvx512()) tables.push_back(&avx512::kKernels);
#endif
  return tables;
}

}  // namespace

std::span<const KernelTable* const> SupportedKernels() {
  static const std::vector<const KernelTable*> tables = Probe();
  return tables;
}

Result<const KernelTable*> SelectKernels(std::string_view name) {
  const std::span tables = SupportedKernels();
  if (name.empty()) return tables.back();
  std::string allowed;
  for (const KernelTable* table : tables) {
    if (name == table->name) return table;
    if (!allowed.empty()) allowed += ", ";
    allowed += table->name;
  }
  return Fail(ErrorKind::kUnsupported,
              "kernels \"" + std::string(name) + "\" are not available, this CPU has " + allowed);
}

MatmulKernel MatmulFor(const KernelTable& kernels, QuantType type) {
  return kernels.matmul[static_cast<std::size_t>(type)];
}

std::size_t MatmulScratchBytes(std::int64_t k, std::int64_t rows) {
  // A panel of 32 unpacked weight rows, what is prepared per activation row, and slack.
  return static_cast<std::size_t>(64 * k + rows * (k / 4) + (std::int64_t{1} << 16));
}

}  // namespace vivace
