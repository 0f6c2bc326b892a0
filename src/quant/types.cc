#include "quant/types.h"

#include <string>

#include "base/check.h"

namespace vivace {
namespace {

constexpr QuantTypeFacts kTypes[] = {
    {QuantType::kF32, "F32", 1, 4},         {QuantType::kF16, "F16", 1, 2},
    {QuantType::kQ4_0, "Q4_0", 32, 18},     {QuantType::kQ4_1, "Q4_1", 32, 20},
    {QuantType::kQ5_0, "Q5_0", 32, 22},     {QuantType::kQ5_1, "Q5_1", 32, 24},
    {QuantType::kQ8_0, "Q8_0", 32, 34},     {QuantType::kQ2_K, "Q2_K", 256, 84},
    {QuantType::kQ3_K, "Q3_K", 256, 110},   {QuantType::kQ4_K, "Q4_K", 256, 144},
    {QuantType::kQ5_K, "Q5_K", 256, 176},   {QuantType::kQ6_K, "Q6_K", 256, 210},
    {QuantType::kIQ4_NL, "IQ4_NL", 32, 18}, {QuantType::kIQ4_XS, "IQ4_XS", 256, 136},
    {QuantType::kBF16, "BF16", 1, 2},       {QuantType::kMXFP4, "MXFP4", 32, 17},
};

std::string Names() {
  std::string names;
  for (const QuantTypeFacts& facts : kTypes) {
    if (!names.empty()) names += ", ";
    names += facts.name;
  }
  return names;
}

}  // namespace

std::span<const QuantTypeFacts> AllQuantTypes() { return kTypes; }

const QuantTypeFacts& FactsOf(QuantType type) {
  for (const QuantTypeFacts& facts : kTypes) {
    if (facts.type == type) return facts;
  }
  CheckFailed(__FILE__, __LINE__, "a QuantType outside the enumeration");
}

Result<QuantType> QuantTypeFromId(std::uint32_t id) {
  for (const QuantTypeFacts& facts : kTypes) {
    if (static_cast<std::uint32_t>(facts.type) == id) return facts.type;
  }
  return Fail(ErrorKind::kUnsupported,
              "quant type " + std::to_string(id) + " is unknown, known are " + Names());
}

Result<QuantType> QuantTypeFromName(std::string_view name) {
  for (const QuantTypeFacts& facts : kTypes) {
    if (facts.name == name) return facts.type;
  }
  return Fail(ErrorKind::kUnsupported,
              "quant type \"" + std::string(name) + "\" is unknown, known are " + Names());
}

Result<std::size_t> RowBytes(QuantType type, std::size_t k) {
  const QuantTypeFacts& facts = FactsOf(type);
  if (k % facts.block_values != 0) {
    return Fail(ErrorKind::kBadInput, "a row of " + std::to_string(k) + " values in " +
                                          std::string(facts.name) + ", allowed is a multiple of " +
                                          std::to_string(facts.block_values));
  }
  const std::size_t blocks = k / facts.block_values;
  if (blocks > SIZE_MAX / facts.block_bytes) {
    return Fail(ErrorKind::kBadInput, "a row of " + std::to_string(k) + " values is too long");
  }
  return blocks * facts.block_bytes;
}

}  // namespace vivace
