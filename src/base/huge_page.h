// How large a huge page is: what buffers and mappings are aligned to, so that they can have them.
#pragma once

#include <cstddef>

namespace vivace {

// Bytes of a huge page where ordinary pages have 4 KiB: x86-64 and arm64.
inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace vivace
