// TokenId: an index into a model's vocabulary.
#pragma once

#include <cstdint>

namespace vivace {

using TokenId = std::int32_t;

}  // namespace vivace
