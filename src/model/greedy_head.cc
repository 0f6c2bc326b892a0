#include "model/greedy_head.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "model/multiply.h"

namespace vivace {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();
// Groups that one thread takes at a time: 57 KB of the coarse plane where k is 896.
constexpr std::int64_t kScanGroups = 8;
// In the second pass nearly all of the work is comparing.
constexpr std::int64_t kCompareGroups = 64;

// Tokens scanned in full before the coarse head is tried again.
constexpr std::int64_t kLongestPause = 256;

constexpr GreedyToken kNothing = {.token = 0, .logit = kLowest, .candidates = 0, .groups = 0};

// The larger logit, of equals the lower id; NaN is never taken. With kNothing to start
// from, the result is that of ArgMax.
void Take(float logit, TokenId token, GreedyToken& best) {
  if (logit > best.logit || (logit == best.logit && token < best.token)) {
    best.logit = logit;
    best.token = token;
  }
}

void TakeAll(const float* logits, std::int64_t first, std::int64_t count, GreedyToken& best) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (logits[i] >= best.logit) Take(logits[i], static_cast<TokenId>(first + i), best);
  }
}

// How many of the rows may have a logit of `threshold` or more. Rounding keeps order: where
// coarse + radius * reach is at least the threshold, so is its float. NaN, from what is
// infinite, counts as reaching it.
int CountReaching(const float* coarse, const float* radius, std::int64_t count, float reach,
                  float threshold) {
  int reaching = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    reaching += !(coarse[i] + radius[i] * reach < threshold) ? 1 : 0;
  }
  return reaching;
}

}  // namespace

struct GreedyHead::Call {
  Workspace& space;
  Activations activations;  // from the first row on
  std::int64_t rows;
  float* logits;  // [rows, stride]: first coarse ones
  std::int64_t stride;
};

GreedyHead::GreedyHead(const Weights& weights, std::int64_t max_rows, int threads)
    : exact_(weights.output),
      coarse_(weights.coarse_head),
      max_rows_(max_rows),
      reach_(static_cast<std::size_t>(max_rows)),
      found_(static_cast<std::size_t>(max_rows * threads)) {}

std::span<GreedyHead::Found> GreedyHead::FoundBy(int thread) {
  const auto rows = static_cast<std::size_t>(max_rows_);
  return std::span(found_).subspan(static_cast<std::size_t>(thread) * rows, rows);
}

void GreedyHead::ScanCoarse(const Call& call, TeamMember& member) {
  ThreadSpace& thread = call.space.threads[static_cast<std::size_t>(member.index())];
  const std::span<Found> found = FoundBy(member.index());
  member.ForEachChunk(exact_.groups(), kScanGroups, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * kGroupRows;
    const std::int64_t count = std::min(end * kGroupRows, exact_.rows) - first;
    Multiply(coarse_.plane, call.activations, call.rows, begin, end, thread, call.logits + first,
             call.stride);
    for (std::int64_t row = 0; row < call.rows; ++row) {
      TakeAll(call.logits + row * call.stride + first, first, count,
              found[static_cast<std::size_t>(row)].coarse);
    }
  });
  member.Barrier();
}

GreedyToken GreedyHead::CoarseBest(std::size_t row) const {
  GreedyToken best = kNothing;
  for (std::size_t at = row; at < found_.size(); at += static_cast<std::size_t>(max_rows_)) {
    Take(found_[at].coarse.logit, found_[at].coarse.token, best);
  }
  return best;
}

// The largest exact logit of the group that has the best coarse one.
float GreedyHead::Threshold(const Call& call, std::size_t row, ThreadSpace& thread) const {
  const std::int64_t group = CoarseBest(row).token / kGroupRows;
  const Activations activations =
      RowsFrom(call.activations, static_cast<std::int64_t>(row), exact_.k);
  float* logits = thread.tile;
  Multiply(exact_, activations, 1, group, group + 1, thread, logits, kGroupRows);
  const std::int64_t first = group * kGroupRows;
  GreedyToken best = kNothing;
  TakeAll(logits, first, std::min(kGroupRows, exact_.rows - first), best);
  return best.logit;
}

void GreedyHead::ScanExact(const Call& call, std::size_t row, TeamMember& member,
                           ThreadSpace& thread) {
  const Activations activations =
      RowsFrom(call.activations, static_cast<std::int64_t>(row), exact_.k);
  const float threshold = Threshold(call, row, thread);
  const float* coarse = call.logits + static_cast<std::int64_t>(row) * call.stride;
  GreedyToken& found = FoundBy(member.index())[row].exact;
  member.ForEachChunk(exact_.groups(), kCompareGroups, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t group = begin; group < end; ++group) {
      const std::int64_t first = group * kGroupRows;
      const std::int64_t count = std::min(kGroupRows, exact_.rows - first);
      const int reaching = CountReaching(coarse + first, coarse_.radius + first, count,
                                         reach_[row], threshold);
      if (reaching == 0) continue;
      Multiply(exact_, activations, 1, group, group + 1, thread, thread.tile, kGroupRows);
      TakeAll(thread.tile, first, count, found);
      found.candidates += reaching;
      ++found.groups;
    }
  });
}

// Adapts to whether reading the plane and so many exact groups was less than everything.
void GreedyHead::Judge(std::int64_t groups) {
  const std::int64_t read = exact_.groups() * coarse_.plane.group_bytes + groups * exact_.group_bytes;
  if (read <= exact_.groups() * exact_.group_bytes) {
    pause_ = 1;
  } else {
    paused_ = pause_;
    pause_ = std::min(2 * pause_, kLongestPause);
  }
}

bool GreedyHead::Worthwhile() {
  if (paused_ == 0) return true;
  --paused_;
  return false;
}

void GreedyHead::Find(std::int64_t first, Workspace& space, ThreadTeam& team, float* logits,
                      std::span<GreedyToken> out) {
  const auto rows = static_cast<std::int64_t>(out.size());
  VIVACE_CHECK(rows <= max_rows_, "more rows than the greedy head was made for");
  const Call call = {.space = space,
                     .activations = RowsFrom(space.hidden_activations.view(), first, exact_.k),
                     .rows = rows,
                     .logits = logits,
                     .stride = exact_.groups() * kGroupRows};
  std::fill(found_.begin(), found_.end(), Found{.coarse = kNothing, .exact = kNothing});
  for (std::size_t row = 0; row < out.size(); ++row) {
    reach_[row] = Reach(
        coarse_, RowsFrom(call.activations, static_cast<std::int64_t>(row), exact_.k));
  }
  team.Run([&](TeamMember& member) {
    ScanCoarse(call, member);
    ThreadSpace& thread = space.threads[static_cast<std::size_t>(member.index())];
    for (std::size_t row = 0; row < out.size(); ++row) ScanExact(call, row, member, thread);
  });
  for (std::size_t row = 0; row < out.size(); ++row) {
    out[row] = kNothing;
    for (int thread = 0; thread < team.size(); ++thread) {
      const GreedyToken& found = FoundBy(thread)[row].exact;
      Take(found.logit, found.token, out[row]);
      out[row].candidates += found.candidates;
      out[row].groups += found.groups;
    }
    Judge(out[row].groups);
  }
}

}  // namespace vivace
