#include <algorithm>
#include <cstring>

#include "gtest/gtest.h"

#include "kernels/dispatch.h"
#include "kernels/pack.h"
#include "kernels/packed_layout.h"
#include "kernels/testing.h"
#include "quant/reference.h"

namespace vivace {
namespace {

using Param = std::tuple<const KernelTable*, QuantType>;

class MatmulTest : public testing::TestWithParam<Param> {
 protected:
  const KernelTable& kernels() const { return *std::get<0>(GetParam()); }
  QuantType type() const { return std::get<1>(GetParam()); }

  // Multiplies and compares every product with the definition, bit for bit.
  // With `sign`, all quantized activations are 127 times it.
  void Check(std::int64_t weight_rows, std::int64_t k, std::int64_t rows, std::int64_t chunk_groups,
             const std::vector<std::byte>& source, float sign = 0.0F) {
    const PackedShape shape = *PackedShapeOf(type(), weight_rows, k);
    AlignedArray<std::byte> packed(static_cast<std::size_t>(shape.total_bytes));
    for (std::int64_t group = 0; group < shape.groups; ++group) {
      PackGroup(shape, source.data(), weight_rows, k, group,
                packed.data() + group * shape.group_bytes);
    }
    RandomActivations activations(rows, k, shape.k, random_);
    for (std::int64_t row = 0; sign != 0 && row < rows; ++row) activations.Fill(row, sign);
    const std::int64_t stride = shape.groups * kGroupRows + 5;
    std::vector<float> out(static_cast<std::size_t>(rows * stride), -7.0F);
    constexpr std::byte kUntouched{0xA5};
    const std::size_t scratch_bytes = MatmulScratchBytes(shape.k, rows);
    AlignedArray<std::byte> scratch(scratch_bytes + 4096);
    std::fill_n(scratch.data() + scratch_bytes, 4096, kUntouched);
    for (std::int64_t group = 0; group < shape.groups; group += chunk_groups) {
      MatmulFor(kernels(), type())({.weights = packed.data(),
                                    .group_bytes = shape.group_bytes,
                                    .group_begin = group,
                                    .group_end = std::min(group + chunk_groups, shape.groups),
                                    .k = shape.k,
                                    .activations = activations.View(),
                                    .rows = rows,
                                    .out = out.data() + group * kGroupRows,
                                    .out_stride = stride,
                                    .prefetch = rows % 2 == 0 ? 1024 : 0,
                                    .scratch = scratch.data(),
                                    .prepared = group > 0});
    }
    EXPECT_EQ(std::count(scratch.data() + scratch_bytes, scratch.data() + scratch_bytes + 4096,
                         kUntouched),
              4096);
    const std::size_t row_bytes = *RowBytes(type(), static_cast<std::size_t>(k));
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t i = 0; i < weight_rows; ++i) {
        const float expected =
            RowProductReference(type(), source.data() + static_cast<std::size_t>(i) * row_bytes,
                                static_cast<std::size_t>(k), activations.Row(row),
                                activations.x.data() + row * shape.k);
        const float actual = out[static_cast<std::size_t>(row * stride + i)];
        ASSERT_EQ(std::bit_cast<std::uint32_t>(actual), std::bit_cast<std::uint32_t>(expected))
            << actual << " is not " << expected << ": row " << row << " of " << rows << ", output "
            << i << ", k " << k;
      }
      for (std::int64_t i = shape.groups * kGroupRows; i < stride; ++i) {
        ASSERT_EQ(out[static_cast<std::size_t>(row * stride + i)], -7.0F) << "written past the end";
      }
    }
  }

  bool Fits(std::int64_t k) const {
    return static_cast<std::size_t>(k) % FactsOf(type()).block_values == 0;
  }

  bool IsFloat() const { return FactsOf(type()).block_values == 1; }

  std::mt19937 random_{3};
};

TEST_P(MatmulTest, EqualsTheDefinitionForEveryBatch) {
  for (const std::int64_t k : {64, 96, 256, 576, 896, 1280}) {
    if (!Fits(k) || (IsFloat() && k > 256)) continue;
    const auto source = RandomRows(type(), 48, k, random_);
    for (const std::int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 37, 99}) {
      Check(48, k, rows, 3, source);
    }
  }
}

TEST_P(MatmulTest, EqualsTheDefinitionForLongRows) {
  // Float rows are one loop over k, and their definition is slow.
  if (IsFloat()) return;
  const auto source = RandomRows(type(), 32, 4864, random_);
  for (const std::int64_t rows : {1, 8, 40}) Check(32, 4864, rows, 2, source);
}

TEST_P(MatmulTest, ChunksAndPaddingChangeNothing) {
  const std::int64_t k = IsFloat() ? 64 : 512;
  const auto source = RandomRows(type(), 75, k, random_);
  for (const std::int64_t chunk : {1, 2, 5}) {
    for (const std::int64_t rows : {1, 6, 19, 101}) Check(75, k, rows, chunk, source);
  }
}

TEST_P(MatmulTest, HoldsAtTheExtremes) {
  if (IsFloat()) return;
  for (const int byte : {0x00, 0xff, 0x7f, 0x80}) {
    auto source = RandomRows(type(), 32, 512, random_);
    const QuantTypeFacts& facts = FactsOf(type());
    const std::vector<std::size_t> scales = ScaleOffsets(type());
    for (std::size_t i = 0; i < source.size(); ++i) {
      const std::size_t in_block = i % facts.block_bytes;
      const bool scale = std::any_of(scales.begin(), scales.end(), [&](std::size_t offset) {
        return in_block == offset || in_block == offset + 1;
      });
      source[i] = scale ? (in_block % 2 == 0 ? std::byte{0xff} : std::byte{0x7b})
                        : static_cast<std::byte>(byte);
    }
    for (const float sign : {1.0F, -1.0F}) {
      for (const std::int64_t rows : {1, 2, 3, 4, 18, 97}) Check(32, 512, rows, 2, source, sign);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryIsa, MatmulTest,
                         testing::Combine(testing::ValuesIn(TestedKernels()),
                                          testing::ValuesIn(PackedTypes())),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param)->name) + "_" +
                                  std::string(Name(std::get<1>(test.param)));
                         });

class Mxfp4Test : public MatmulTest {};

// Exponents 0 and 1 are subnormal powers of two; 255 makes products infinite.
TEST_P(Mxfp4Test, HoldsForEveryExponent) {
  auto source = RandomRows(type(), 256, 32, random_);
  for (std::size_t row = 0; row < 256; ++row) source[17 * row] = static_cast<std::byte>(row);
  for (const std::int64_t rows : {1, 20, 97}) Check(256, 32, rows, 16, source);
}

INSTANTIATE_TEST_SUITE_P(EveryIsa, Mxfp4Test,
                         testing::Combine(testing::ValuesIn(TestedKernels()),
                                          testing::Values(QuantType::kMXFP4)),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param)->name);
                         });

}  // namespace
}  // namespace vivace
