// What the tests of this module share: files of tests/data/quant and random blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <ios>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing.h"
#include "quant/activation.h"
#include "quant/encode.h"
#include "quant/types.h"

namespace vivace {

// A file of tests/data/quant; empty when it cannot be read.
inline std::vector<char> ReadQuantData(const std::string& name) {
  std::ifstream file(SourceFolder() + "tests/data/quant/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::vector<float> RandomValues(std::size_t k, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(k);
  for (float& value : values) value = normal(random);
  return values;
}

inline std::vector<std::byte> Encoded(QuantType type, const std::vector<float>& x) {
  std::vector<std::byte> row(*RowBytes(type, x.size()));
  EncodeRow(type, x.data(), x.size(), row.data());
  return row;
}

// An activation row that owns its arrays.
struct QuantizedRow {
  explicit QuantizedRow(std::vector<float> values)
      : x(std::move(values)),
        q(x.size()),
        d(x.size() / 32),
        sum(x.size() / 32),
        half_sum(x.size() / 16) {
    QuantizeRowReference(x.data(), x.size(), Row());
  }
  ActivationRow Row() {
    return {.q = q.data(), .d = d.data(), .sum = sum.data(), .half_sum = half_sum.data()};
  }
  std::vector<float> x;
  std::vector<std::int8_t> q;
  std::vector<float> d;
  std::vector<std::int32_t> sum;
  std::vector<std::int32_t> half_sum;
};

inline std::string TypeName(const testing::TestParamInfo<QuantType>& tested) {
  return std::string(Name(tested.param));
}

}  // namespace vivace
