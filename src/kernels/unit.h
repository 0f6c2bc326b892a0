// Where the units of a packed group lie (packed_layout.h), for the ISA kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/packed_layout.h"

namespace vivace::VIVACE_ISA {
namespace {

// One unit of blocks in a group.
struct Unit {
  const std::byte* header;
  const std::byte* body;
};

// Unit number `unit` of the group at `group`; see packed_layout.h for the shared lines.
template <class Type>
[[gnu::always_inline]] inline Unit UnitAt(const std::byte* group, std::int64_t unit) {
  constexpr std::int64_t kRun = Type::kHeaderBytes < kLine ? kLine / Type::kHeaderBytes : 1;
  const std::byte* run = group + unit / kRun * kRun * (Type::kHeaderBytes + Type::kBodyBytes);
  return {.header = run + unit % kRun * Type::kHeaderBytes,
          .body = run + kRun * Type::kHeaderBytes + unit % kRun * Type::kBodyBytes};
}

}  // namespace
}  // namespace vivace::VIVACE_ISA
