#include "measure/model_work.h"

#include <algorithm>

namespace vivace {
namespace {

std::vector<const Matrix*> LayerMatrices(const Model& model) {
  std::vector<const Matrix*> matrices;
  for (const LayerWeights& layer : model.weights().layers) {
    for (const Matrix* matrix : {&layer.w_q, &layer.w_k, &layer.w_v, &layer.w_o, &layer.w_gate,
                                 &layer.w_up, &layer.w_down}) {
      matrices.push_back(matrix);
    }
  }
  return matrices;
}

std::int64_t BytesOf(const Matrix& matrix) { return matrix.groups() * matrix.group_bytes; }

}  // namespace

double LeastSeconds(const Work& work, const Limit& limit) {
  const double reading = limit.bytes > 0 ? work.bytes / limit.bytes : 0;
  const double multiplying = limit.products > 0 ? work.products / limit.products : 0;
  return std::max(reading, multiplying);
}

Work ModelWork::Prompt(std::int64_t tokens, std::int64_t chunk) const {
  const std::int64_t chunks = (tokens + chunk - 1) / chunk;
  return {.tokens = static_cast<double>(tokens),
          .bytes = static_cast<double>(chunks * (layer_bytes - tail_bytes) + tail_bytes),
          .products =
              static_cast<double>(tokens * prompt_products() + tail_products + output_products)};
}

Work ModelWork::Steps(std::int64_t sequences, std::int64_t context, std::int64_t steps) const {
  // Positions read by all steps: the context grows by one each time.
  const std::int64_t positions = sequences * (steps * context + steps * (steps - 1) / 2);
  return {.tokens = static_cast<double>(sequences * steps),
          .bytes = static_cast<double>(steps * layer_bytes + positions * position_bytes),
          .products = static_cast<double>(sequences * steps * token_products())};
}

ModelWork WorkOf(const Model& model) {
  const Config& config = model.config();
  ModelWork work;
  for (const Matrix* matrix : LayerMatrices(model)) {
    work.layer_bytes += BytesOf(*matrix);
    work.layer_products += matrix->rows * matrix->k;
  }
  const LayerWeights& last = model.weights().layers.back();
  for (const Matrix* matrix : {&last.w_q, &last.w_o, &last.w_gate, &last.w_up, &last.w_down}) {
    work.tail_bytes += BytesOf(*matrix);
    work.tail_products += matrix->rows * matrix->k;
  }
  const Matrix& output = model.weights().output;
  work.output_bytes = BytesOf(output);
  work.output_products = output.rows * output.k;
  work.position_bytes = static_cast<std::int64_t>(2 * sizeof(std::uint16_t)) * config.layers *
                        config.kv_heads * config.head_dim;
  return work;
}

std::vector<std::span<const std::byte>> WeightBytes(const Model& model) {
  std::vector<const Matrix*> matrices = LayerMatrices(model);
  matrices.push_back(&model.weights().output);
  std::vector<std::span<const std::byte>> parts;
  parts.reserve(matrices.size());
  for (const Matrix* matrix : matrices) {
    parts.emplace_back(matrix->data, static_cast<std::size_t>(BytesOf(*matrix)));
  }
  return parts;
}

}  // namespace vivace
