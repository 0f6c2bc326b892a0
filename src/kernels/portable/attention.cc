// Attention of one chunk of 128 positions; see AttentionChunkArgs for the definition.
#include "kernels/isa.h"
#include "kernels/portable/half_lane.h"
#include "kernels/portable/lanes.h"
#include "kernels/portable/soften.h"

namespace vivace::VIVACE_ISA {
namespace {

constexpr std::int64_t kMaxDim = 256;

// scores[p] of one page of keys, f16 [dim][16 positions].
void ScorePage(const float* q, const std::uint16_t* keys, std::int64_t dim, float* scores) {
  float lanes[kLanes] = {};
  for (std::int64_t d = 0; d < dim; ++d) {
    for (int lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = __builtin_fmaf(q[d], FromHalf(keys[d * kLanes + lane]), lanes[lane]);
    }
  }
  for (int lane = 0; lane < kLanes; ++lane) scores[lane] = lanes[lane];
}

void AttendHead(const AttentionChunkArgs& args, const float* q, std::int64_t visible,
                std::int64_t at) {
  float scores[kChunk] = {};
  for (std::int64_t first = 0; first < visible; first += kLanes) {
    ScorePage(q, args.keys[first / kLanes], args.dim, scores + first);
  }
  args.sum[at] = Soften(scores, visible, args.max + at);
  float* out = args.out + at * args.dim;
  float acc[kMaxDim] = {};
  for (std::int64_t p = 0; p < visible; ++p) {
    const std::uint16_t* values = args.values[p / kLanes] + p % kLanes * args.dim;
    for (std::int64_t d = 0; d < args.dim; ++d) {
      acc[d] = __builtin_fmaf(scores[p], FromHalf(values[d]), acc[d]);
    }
  }
  for (std::int64_t d = 0; d < args.dim; ++d) out[d] = acc[d];
}

}  // namespace

void AttentionChunk(const AttentionChunkArgs& args) {
  for (std::int64_t row = 0; row < args.rows; ++row) {
    const std::int64_t seen = args.visible + row;
    if (seen <= 0) continue;
    const std::int64_t visible = seen < kChunk ? seen : kChunk;
    for (std::int64_t head = 0; head < args.heads; ++head) {
      AttendHead(args, args.q + row * args.q_stride + head * args.dim, visible,
                 row * args.heads + head);
    }
  }
}

}  // namespace vivace::VIVACE_ISA
