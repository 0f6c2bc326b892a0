// ModelWork: what a model's passes cost, in bytes read and int8 products made, whatever
// computes them; and from it the time that no engine on this machine can go below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/model.h"

namespace vivace {

// Of one pass, or of several.
struct Work {
  double tokens = 0;
  double bytes = 0;     // weights, keys and values, from memory
  double products = 0;  // of weight matrices; attention is not int8 and not counted
};

// What the machine gives per second.
struct Limit {
  double bytes = 0;
  double products = 0;
};

// The roofline: the slower of reading and multiplying, each at the machine's limit.
double LeastSeconds(const Work& work, const Limit& limit);

struct ModelWork {
  std::int64_t layer_bytes = 0;  // weights of all layers
  std::int64_t layer_products = 0;
  // Of these, what the last layer does after keys and values: for rows with logits only.
  std::int64_t tail_bytes = 0;
  std::int64_t tail_products = 0;
  std::int64_t output_bytes = 0;  // of the output matrix
  std::int64_t output_products = 0;
  std::int64_t position_bytes = 0;  // keys and values of one position

  // Both without the bytes of the output matrix: a coarse head reads only some of them.
  // A prompt evaluated `chunk` rows at a time: each chunk reads the layers once. Logits, and
  // the tail of the last layer, of the last row only.
  Work Prompt(std::int64_t tokens, std::int64_t chunk) const;
  // `steps` steps of `sequences` that each have `context` positions before the first.
  Work Steps(std::int64_t sequences, std::int64_t context, std::int64_t steps) const;

  // Of one token, with all of the output matrix.
  std::int64_t token_bytes() const { return layer_bytes + output_bytes; }
  std::int64_t token_products() const { return layer_products + output_products; }
  std::int64_t prompt_products() const { return layer_products - tail_products; }
};

ModelWork WorkOf(const Model& model);

// The memory of all weight matrices that a full pass reads, in its order.
std::vector<std::span<const std::byte>> WeightBytes(const Model& model);

}  // namespace vivace
