#include "model/workspace.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kernels/dispatch.h"
#include "kernels/packed_layout.h"
#include "model/forward_attention.h"

namespace vivace {
namespace {

constexpr std::int64_t kAlign = 64;

std::int64_t RoundUp(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Cuts a buffer into aligned arrays: first counts, then hands out.
class Carver {
 public:
  explicit Carver(std::byte* base = nullptr) : base_(base) {}

  template <class T>
  T* Take(std::int64_t count) {
    auto* at = base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + used_);
    used_ += RoundUp(count * static_cast<std::int64_t>(sizeof(T)), kAlign);
    return at;
  }
  std::size_t used() const { return static_cast<std::size_t>(used_); }

 private:
  std::byte* base_;
  std::int64_t used_ = 0;
};

// `layout` is run twice: to count the bytes, then to set the pointers.
template <class Layout>
Result<Buffer> Carve(const Layout& layout) {
  Carver counter;
  layout(counter);
  auto memory = Buffer::Allocate(counter.used(), HugePages::kYes);
  if (!memory) return memory;
  Carver carver(memory->data());
  layout(carver);
  return memory;
}

}  // namespace

Result<ActivationBuffer> ActivationBuffer::Allocate(std::int64_t rows, std::int64_t k) {
  ActivationBuffer buffer;
  buffer.k_ = RoundUp(k, kLine);
  const std::int64_t size = rows * buffer.k_;
  auto memory = Carve([&](Carver& carver) {
    buffer.x_ = carver.Take<float>(size);
    buffer.q_ = carver.Take<std::int8_t>(size);
    buffer.d_ = carver.Take<float>(size / kBlock);
    buffer.sum_ = carver.Take<std::int32_t>(size / kBlock);
    buffer.half_sum_ = carver.Take<std::int32_t>(2 * size / kBlock);
  });
  if (!memory) return Failure(std::move(memory).error());
  buffer.memory_ = std::move(*memory);
  buffer.view_ = {.q = buffer.q_,
                  .d = buffer.d_,
                  .sum = buffer.sum_,
                  .half_sum = buffer.half_sum_,
                  .x = buffer.x_};
  return buffer;
}

void ActivationBuffer::Quantize(const KernelTable& kernels, std::int64_t row, const float* x) {
  QuantizeColumns(kernels, row, 0, k_, x);
}

void ActivationBuffer::QuantizeColumns(const KernelTable& kernels, std::int64_t row,
                                       std::int64_t begin, std::int64_t end, const float* x) {
  const std::int64_t at = row * k_ + begin;
  kernels.quantize(x, end - begin, q_ + at, d_ + at / kBlock, sum_ + at / kBlock,
                   half_sum_ + 2 * at / kBlock);
}

namespace {

Result<void> AllocateInto(ActivationBuffer& buffer, std::int64_t rows, std::int64_t k) {
  auto allocated = ActivationBuffer::Allocate(rows, k);
  if (!allocated) return Failure(std::move(allocated).error());
  buffer = std::move(*allocated);
  return {};
}

Result<ThreadSpace> AllocateThread(const Config& config, std::int64_t max_rows,
                                   std::int64_t tile_columns) {
  ThreadSpace space;
  VIVACE_RETURN_IF_ERROR(
      AllocateInto(space.hidden_activations, Workspace::kRedundantRows, config.hidden));
  VIVACE_RETURN_IF_ERROR(
      AllocateInto(space.attended_activations, Workspace::kRedundantRows, config.q_width()));
  const std::int64_t widest = std::max({config.hidden, config.q_width(), config.ffn});
  const auto scratch =
      static_cast<std::int64_t>(MatmulScratchBytes(RoundUp(widest, kLine), max_rows));
  auto memory = Carve([&](Carver& carver) {
    space.tile = carver.Take<float>(2 * max_rows * tile_columns);
    space.row = carver.Take<float>(RoundUp(widest, kLine));
    space.matmul_scratch = carver.Take<std::byte>(scratch);
    space.partial = carver.Take<float>(AttentionPartialFloats(config));
  });
  if (!memory) return Failure(std::move(memory).error());
  space.memory = std::move(*memory);
  return space;
}

}  // namespace

void Workspace::SetPrefetch(std::int64_t bytes) {
  for (ThreadSpace& thread : threads) thread.prefetch = bytes;
}

Result<Workspace> Workspace::Allocate(const Config& config, std::int64_t max_rows, int threads) {
  Workspace space;
  space.max_rows = max_rows;
  space.tile_columns = std::max(kUnitColumns, config.head_dim);
  auto memory = Carve([&](Carver& carver) {
    space.residual = carver.Take<float>(max_rows * config.hidden);
    space.q = carver.Take<float>(max_rows * config.q_width());
    space.attended = carver.Take<float>(max_rows * config.q_width());
    space.chunk_partials = carver.Take<float>(kChunkPartials);
    space.rope_cos = carver.Take<float>(max_rows * config.head_dim / 2);
    space.rope_sin = carver.Take<float>(max_rows * config.head_dim / 2);
  });
  if (!memory) return Failure(std::move(memory).error());
  space.memory_ = std::move(*memory);
  space.output_slices.reserve(static_cast<std::size_t>(max_rows));
  VIVACE_RETURN_IF_ERROR(AllocateInto(space.hidden_activations, max_rows, config.hidden));
  VIVACE_RETURN_IF_ERROR(AllocateInto(space.attended_activations, max_rows, config.q_width()));
  VIVACE_RETURN_IF_ERROR(AllocateInto(space.ffn_activations, max_rows, config.ffn));
  for (int thread = 0; thread < threads; ++thread) {
    auto private_space = AllocateThread(config, max_rows, space.tile_columns);
    if (!private_space) return Failure(std::move(private_space).error());
    space.threads.push_back(std::move(*private_space));
  }
  return space;
}

}  // namespace vivace
