// What the kernel tests share: random rows of every type and aligned memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ostream>
#include <random>
#include <vector>

#include "base/buffer.h"
#include "kernels/dispatch.h"
#include "kernels/kernel_table.h"
#include "quant/activation.h"
#include "quant/half.h"
#include "quant/types.h"

namespace vivace {

#if defined(__x86_64__)
// Tiers whose own instruction is replaced by others, so that machines without it test the
// rest of them (CMakeLists.txt). Only kernels_test links them.
namespace avxvnni_emulated {
extern const KernelTable kKernels;
}
namespace amx_emulated {
extern const KernelTable kKernels;
}
#endif

// What this machine can run, the emulated tiers too.
inline std::vector<const KernelTable*> TestedKernels() {
  const auto supported = SupportedKernels();
  std::vector<const KernelTable*> tables(supported.begin(), supported.end());
#if defined(__x86_64__)
  // Both are made of the instructions of avx512.
  if (SelectKernels("avx512")) {
    tables.push_back(&avxvnni_emulated::kKernels);
    tables.push_back(&amx_emulated::kKernels);
  }
#endif
  return tables;
}

// Lets GoogleTest print a table's name where it would print an address, which would
// change a test's name from run to run.
inline void PrintTo(const KernelTable* table, std::ostream* out) { *out << table->name; }
inline void PrintTo(QuantType type, std::ostream* out) { *out << Name(type); }

// All types, by their numbers.
inline std::vector<QuantType> PackedTypes() {
  std::vector<QuantType> types;
  for (const QuantTypeFacts& facts : AllQuantTypes()) types.push_back(facts.type);
  return types;
}

// A 64-byte aligned array that stays where it is.
template <class T>
class AlignedArray {
 public:
  explicit AlignedArray(std::size_t size)
      : memory_(std::move(*Buffer::Allocate(size * sizeof(T) + 64, HugePages::kNo))) {}
  T* data() { return memory_.As<T>().data(); }
  T& operator[](std::size_t index) { return data()[index]; }

 private:
  Buffer memory_;
};

// Where a type's float16 scales lie in its block: all other bytes may have any value, but
// for MXFP4's first, an exponent.
inline std::vector<std::size_t> ScaleOffsets(QuantType type) {
  switch (type) {
    case QuantType::kQ4_1:
    case QuantType::kQ5_1:
    case QuantType::kQ4_K:
    case QuantType::kQ5_K:
      return {0, 2};
    case QuantType::kQ2_K:
      return {80, 82};
    case QuantType::kQ3_K:
      return {108};
    case QuantType::kQ6_K:
      return {208};
    case QuantType::kMXFP4:
      return {};
    default:
      return {0};
  }
}

// Rows of random bytes with finite scales of ordinary size; floats are in [-1, 1].
inline std::vector<std::byte> RandomRows(QuantType type, std::int64_t rows, std::int64_t k,
                                         std::mt19937& random) {
  const std::size_t bytes =
      static_cast<std::size_t>(rows) * *RowBytes(type, static_cast<std::size_t>(k));
  std::vector<std::byte> out(bytes);
  std::uniform_real_distribution<float> unit(-1, 1);
  const QuantTypeFacts& facts = FactsOf(type);
  const auto put = [&](std::size_t at, auto value) {
    __builtin_memcpy(out.data() + at, &value, sizeof(value));
  };
  for (std::byte& byte : out) byte = static_cast<std::byte>(random() & 255);
  for (std::size_t at = 0; at < bytes; at += facts.block_bytes) {
    if (type == QuantType::kF32) {
      put(at, unit(random));
    } else if (type == QuantType::kF16) {
      put(at, FloatToHalf(unit(random)));
    } else if (type == QuantType::kBF16) {
      put(at, FloatToBfloat16(unit(random)));
    } else if (type == QuantType::kMXFP4) {
      put(at, static_cast<std::uint8_t>(118 + random() % 8));  // 2^-10 and up
    } else {
      for (const std::size_t offset : ScaleOffsets(type)) {
        put(at + offset, FloatToHalf(0.02F * unit(random)));
      }
    }
  }
  return out;
}

// Quantized rows of random floats, padded with zeros to `padded`.
struct RandomActivations {
  RandomActivations(std::int64_t rows, std::int64_t k, std::int64_t padded_k, std::mt19937& random)
      : padded(padded_k),
        x(Size(rows * padded_k)),
        q(Size(rows * padded_k)),
        d(Size(rows * padded_k / 32)),
        sum(Size(rows * padded_k / 32)),
        half_sum(Size(rows * padded_k / 16)) {
    std::normal_distribution<float> normal;
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t i = 0; i < k; ++i) x[Size(row * padded + i)] = normal(random);
      QuantizeRowReference(x.data() + row * padded, Size(padded), Row(row));
    }
  }
  // Makes all k values of a row `value`.
  void Fill(std::int64_t row, float value) {
    std::fill_n(x.data() + row * padded, padded, value);
    QuantizeRowReference(x.data() + row * padded, Size(padded), Row(row));
  }
  static std::size_t Size(std::int64_t value) { return static_cast<std::size_t>(value); }
  ActivationRow Row(std::int64_t row) {
    return {.q = q.data() + row * padded,
            .d = d.data() + row * padded / 32,
            .sum = sum.data() + row * padded / 32,
            .half_sum = half_sum.data() + row * padded / 16};
  }
  Activations View() {
    return {.q = q.data(),
            .d = d.data(),
            .sum = sum.data(),
            .half_sum = half_sum.data(),
            .x = x.data()};
  }

  std::int64_t padded;
  AlignedArray<float> x;
  AlignedArray<std::int8_t> q;
  AlignedArray<float> d;
  AlignedArray<std::int32_t> sum;
  AlignedArray<std::int32_t> half_sum;
};

}  // namespace vivace
