// Chooses the kernels: once, at start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "kernels/kernel_table.h"
#include "quant/types.h"

namespace vivace {

// The tiers that this CPU and its system can run, slowest first.
std::span<const KernelTable* const> SupportedKernels();

// "" is the fastest. kUnsupported for a name that is unknown or that the CPU lacks.
Result<const KernelTable*> SelectKernels(std::string_view name);

MatmulKernel MatmulFor(const KernelTable& kernels, QuantType type);

// Bytes of MatmulArgs::scratch for `rows` activation rows of k values.
std::size_t MatmulScratchBytes(std::int64_t k, std::int64_t rows);

}  // namespace vivace
