// The shape of a model's pages of keys and values.
#pragma once

#include "kv/page_pool.h"
#include "model/config.h"

namespace vivace {

inline PageShape PageShapeOf(const Config& config) {
  return {.layers = config.layers, .kv_heads = config.kv_heads, .dim = config.head_dim};
}

}  // namespace vivace
