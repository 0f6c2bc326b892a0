#include "model/forward.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/check.h"
#include "model/forward_attention.h"
#include "model/last_layer.h"
#include "model/multiply.h"
#include "model/pass.h"
#include "quant/decode.h"

namespace vivace {
namespace {

// Output columns of one work unit: small enough that a disturbed core does not hold
// up the rest, and whole GEMM tiles of 32 rows.
constexpr std::int64_t kProjectColumns = 32;

// Looks up the embedding of a slice's token and the rotation of its position.
void EmbedRow(const Pass& pass, const SequenceSlice& slice, std::int64_t i) {
  const Config& config = pass.config();
  const Embedding& embedding = pass.model.weights().embedding;
  const std::int64_t row = slice.first_row + i;
  const auto token = static_cast<std::size_t>(pass.batch.tokens[static_cast<std::size_t>(row)]);
  DecodeRow(embedding.type, embedding.rows + token * embedding.row_bytes,
            static_cast<std::size_t>(config.hidden), pass.space.residual + row * config.hidden);
  pass.model.rope().Rotation(slice.position + i, pass.space.rope_cos + row * config.head_dim / 2,
                             pass.space.rope_sin + row * config.head_dim / 2);
}

void Embed(const Pass& pass, TeamMember& member) {
  for (const SequenceSlice& slice : pass.batch.slices) {
    member.ForEachChunk(slice.rows, 8, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) EmbedRow(pass, slice, i);
    });
  }
  member.Barrier();
}

// A few rows take less time than the others need to wake up.
void EmbedFew(const Pass& pass) {
  for (const SequenceSlice& slice : pass.batch.slices) {
    for (std::int64_t i = 0; i < slice.rows; ++i) EmbedRow(pass, slice, i);
  }
}

// Calls prepare(buffer, row) for every row: each thread all of them into its private
// buffer where that costs less than the barrier which sharing the work needs.
template <class Prepare>
const Activations& ForEveryRow(std::int64_t rows, ActivationBuffer& own, ActivationBuffer& shared,
                               TeamMember& member, const Prepare& prepare) {
  if (rows <= Workspace::kRedundantRows) {
    for (std::int64_t row = 0; row < rows; ++row) prepare(own, row);
    return own.view();
  }
  member.ForEachChunk(rows, 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) prepare(shared, row);
  });
  member.Barrier();
  return shared.view();
}

// Zeros from `size` up to whole lines.
void Pad(float* row, std::int64_t size) {
  std::fill(row + size, row + (size + kLine - 1) / kLine * kLine, 0.0F);
}

// `floats`: a product to come multiplies the floats themselves.
const Activations& NormAndQuantize(const Pass& pass, const float* gain, bool floats,
                                   TeamMember& member) {
  const Config& config = pass.config();
  ThreadSpace& thread = pass.thread(member);
  return ForEveryRow(pass.rows(), thread.hidden_activations, pass.space.hidden_activations, member,
                     [&](ActivationBuffer& buffer, std::int64_t row) {
                       float* x = floats ? buffer.x(row) : thread.row;
                       pass.kernels().rms_norm(pass.space.residual + row * config.hidden, gain, x,
                                               config.hidden, config.rms_epsilon);
                       Pad(x, config.hidden);
                       buffer.Quantize(pass.kernels(), row, x);
                     });
}

const Activations& QuantizeAttended(const Pass& pass, bool floats, TeamMember& member) {
  const std::int64_t width = pass.config().q_width();
  ThreadSpace& thread = pass.thread(member);
  return ForEveryRow(pass.rows(), thread.attended_activations, pass.space.attended_activations,
                     member, [&](ActivationBuffer& buffer, std::int64_t row) {
                       float* x = floats ? buffer.x(row) : thread.row;
                       std::copy_n(pass.space.attended + row * width, width, x);
                       Pad(x, width);
                       buffer.Quantize(pass.kernels(), row, x);
                     });
}

void Rotate(const Pass& pass, std::int64_t row, float* head) {
  const std::int64_t dim = pass.config().head_dim;
  const float* cos = pass.space.rope_cos + row * dim / 2;
  const float* sin = pass.space.rope_sin + row * dim / 2;
  const bool halves = pass.config().rope == RopeKind::kHalves;
  (halves ? pass.kernels().rope_halves : pass.kernels().rope_pairs)(head, cos, sin, dim);
}

enum class Part : std::uint8_t { kQuery, kKey, kValue };

// One head of q, k or v for all rows: its unit of work in ProjectQkv.
struct HeadUnit {
  Part part;
  std::int64_t head;
  const Matrix& matrix;
  const float* bias;
};

HeadUnit UnitOf(const Config& config, const LayerWeights& layer, std::int64_t unit) {
  if (unit < config.heads) return {Part::kQuery, unit, layer.w_q, layer.b_q};
  unit -= config.heads;
  if (unit < config.kv_heads) return {Part::kKey, unit, layer.w_k, layer.b_k};
  return {Part::kValue, unit - config.kv_heads, layer.w_v, layer.b_v};
}

// Queries go to the workspace, scaled for the softmax; keys and values to their page.
void StoreHead(const Pass& pass, std::int64_t layer, const HeadUnit& unit,
               const SequenceSlice& slice, std::int64_t row, float* head) {
  const Config& config = pass.config();
  const std::int64_t dim = config.head_dim;
  if (unit.part != Part::kValue) Rotate(pass, row, head);
  if (unit.part == Part::kQuery) {
    const float scale = 1.0F / std::sqrt(static_cast<float>(dim));
    float* q = pass.space.q + row * config.q_width() + unit.head * dim;
    for (std::int64_t d = 0; d < dim; ++d) q[d] = head[d] * scale;
    return;
  }
  const std::int64_t position = slice.position + row - slice.first_row;
  std::uint16_t* page = slice.kv->pages()[static_cast<std::size_t>(position / kPagePositions)];
  const std::int64_t slot = position % kPagePositions;
  const PageShape& shape = slice.kv->shape();
  if (unit.part == Part::kValue) {
    pass.kernels().to_half(head, page + shape.value_offset(layer, unit.head) + slot * dim, dim);
    return;
  }
  std::uint16_t halves[kMaxHeadDim];
  pass.kernels().to_half(head, halves, dim);
  std::uint16_t* keys = page + shape.key_offset(layer, unit.head) + slot;
  for (std::int64_t d = 0; d < dim; ++d) keys[d * kPagePositions] = halves[d];
}

// All rows of a head, [rows, head_dim].
void StoreHeads(const Pass& pass, std::int64_t layer, const HeadUnit& unit, float* rows) {
  const std::int64_t dim = pass.config().head_dim;
  for (const SequenceSlice& slice : pass.batch.slices) {
    for (std::int64_t row = slice.first_row; row < slice.first_row + slice.rows; ++row) {
      float* head = rows + row * dim;
      if (unit.bias != nullptr) pass.kernels().add(unit.bias + unit.head * dim, head, dim);
      StoreHead(pass, layer, unit, slice, row, head);
    }
  }
}

// Heads are counted through q, k and v; those before `first_head` are left out.
void ProjectHeads(const Pass& pass, std::int64_t layer_index, std::int64_t first_head,
                  TeamMember& member) {
  const Config& config = pass.config();
  const LayerWeights& layer = pass.model.weights().layers[static_cast<std::size_t>(layer_index)];
  const bool floats = layer.w_q.of_floats() || layer.w_k.of_floats() || layer.w_v.of_floats();
  std::optional<Multiplier> multiply;
  ThreadSpace& thread = pass.thread(member);
  const std::int64_t dim = config.head_dim;
  const std::int64_t groups = dim / kGroupRows;
  member.Phase(
      pass.Pieces(config.heads + 2 * config.kv_heads - first_head, 1),
      [&] {
        multiply.emplace(NormAndQuantize(pass, layer.attn_norm, floats, member), pass.rows(),
                         thread);
      },
      [&](std::int64_t index, std::int64_t /*end*/) {
        const HeadUnit unit = UnitOf(config, layer, first_head + index);
        const std::int64_t first = unit.head * groups;
        (*multiply)(unit.matrix, first, first + groups, thread.tile, dim);
      },
      [&](std::int64_t index, std::int64_t /*end*/) {
        StoreHeads(pass, layer_index, UnitOf(config, layer, first_head + index), thread.tile);
      });
}

// residual += matrix * activations, by columns. `prepare` returns the activations.
template <class Prepare>
void ProjectToResidual(const Pass& pass, const Matrix& matrix, const Prepare& prepare,
                       TeamMember& member) {
  const std::int64_t hidden = pass.config().hidden;
  ThreadSpace& thread = pass.thread(member);
  std::optional<Multiplier> multiply;
  member.Phase(
      pass.Pieces(matrix.groups(), kProjectColumns / kGroupRows),
      [&] { multiply.emplace(prepare(), pass.rows(), thread); },
      [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t columns = (end - begin) * kGroupRows;
        (*multiply)(matrix, begin, end, thread.tile, columns);
      },
      [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t columns = (end - begin) * kGroupRows;
        for (std::int64_t row = 0; row < pass.rows(); ++row) {
          pass.kernels().add(thread.tile + row * columns,
                             pass.space.residual + row * hidden + begin * kGroupRows, columns);
        }
      });
}

// ffn = silu(gate) * up, quantized by the thread that computed it.
void GateAndUp(const Pass& pass, const LayerWeights& layer, TeamMember& member) {
  const bool floats = layer.w_gate.of_floats() || layer.w_up.of_floats();
  std::optional<Multiplier> multiply;
  ThreadSpace& thread = pass.thread(member);
  ActivationBuffer& ffn = pass.space.ffn_activations;
  float* gate = thread.tile;
  float* up = thread.tile + pass.rows() * kUnitColumns;
  member.Phase(
      pass.Pieces(layer.w_gate.groups(), kUnitColumns / kGroupRows),
      [&] {
        multiply.emplace(NormAndQuantize(pass, layer.ffn_norm, floats, member), pass.rows(),
                         thread);
      },
      [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t columns = (end - begin) * kGroupRows;
        (*multiply)(layer.w_gate, begin, end, gate, columns);
        (*multiply)(layer.w_up, begin, end, up, columns);
      },
      [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t columns = (end - begin) * kGroupRows;
        const std::int64_t first = begin * kGroupRows;
        for (std::int64_t row = 0; row < pass.rows(); ++row) {
          float* x = layer.w_down.of_floats() ? ffn.x(row) + first : thread.row;
          pass.kernels().silu_mul(gate + row * columns, up + row * columns, x, columns);
          Pad(x, columns);
          ffn.QuantizeColumns(pass.kernels(), row, first, first + kUnitColumns, x);
        }
      });
}

void Layer(const Pass& pass, std::int64_t index, TeamMember& member) {
  const LayerWeights& layer = pass.model.weights().layers[static_cast<std::size_t>(index)];
  const auto attended = [&]() -> const Activations& {
    return QuantizeAttended(pass, layer.w_o.of_floats(), member);
  };
  const auto ffn = [&]() -> const Activations& { return pass.space.ffn_activations.view(); };
  ProjectHeads(pass, index, 0, member);
  Attend(pass, index, member);
  ProjectToResidual(pass, layer.w_o, attended, member);
  GateAndUp(pass, layer, member);
  ProjectToResidual(pass, layer.w_down, ffn, member);
}

// The last layer of `pass`; `output` are its output rows alone. Their keys and values are
// computed twice, to the same bytes.
void LastLayer(const Pass& pass, const Pass& output, std::int64_t index, TeamMember& member) {
  if (output.rows() < pass.rows()) {
    ProjectHeads(pass, index, pass.config().heads, member);
    if (output.rows() == 0) return;
    if (member.index() == 0) MoveOutputRows(pass);
    member.Barrier();
  }
  Layer(output, index, member);
}

void OutputNorm(const Pass& output, TeamMember& member) {
  const Config& config = output.config();
  ActivationBuffer& out = output.space.hidden_activations;
  member.ForEachChunk(output.rows(), 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      output.kernels().rms_norm(output.space.residual + row * config.hidden,
                                output.model.weights().output_norm, out.x(row), config.hidden,
                                config.rms_epsilon);
      Pad(out.x(row), config.hidden);
      out.Quantize(output.kernels(), row, out.x(row));
    }
  });
}

}  // namespace

std::int64_t LogitsStride(const Config& config) {
  return (config.vocab_size + kGroupRows - 1) / kGroupRows * kGroupRows;
}

void Forward(const Model& model, const Batch& batch, Workspace& space, ThreadTeam& team) {
  const Pass pass = {.model = model, .batch = batch, .space = space};
  VIVACE_CHECK(pass.rows() <= space.max_rows, "the batch is larger than its workspace");
  const Batch output_batch = OutputBatch(batch, space);
  const Pass output = {.model = model, .batch = output_batch, .space = space};
  const std::int64_t last = model.config().layers - 1;
  const bool few = pass.rows() <= Workspace::kRedundantRows;
  if (few) EmbedFew(pass);
  team.Run([&](TeamMember& member) {
    if (!few) Embed(pass, member);
    for (std::int64_t layer = 0; layer < last; ++layer) Layer(pass, layer, member);
    LastLayer(pass, output, last, member);
    OutputNorm(output, member);
  });
}

void ComputeLogits(const Model& model, std::int64_t first, std::int64_t rows, Workspace& space,
                   ThreadTeam& team, float* logits) {
  const Matrix& output = model.weights().output;
  const std::int64_t stride = LogitsStride(model.config());
  const Activations activations = RowsFrom(space.hidden_activations.view(), first, output.k);
  team.Run([&](TeamMember& member) {
    ThreadSpace& thread = space.threads[static_cast<std::size_t>(member.index())];
    Multiplier multiply(activations, rows, thread);
    member.ForEachChunk(output.groups(), 16, [&](std::int64_t begin, std::int64_t end) {
      multiply(output, begin, end, logits + begin * kGroupRows, stride);
    });
  });
}

}  // namespace vivace
