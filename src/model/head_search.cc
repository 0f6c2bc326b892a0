#include "model/head_search.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "model/multiply.h"

namespace vivace {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();
// Groups that one thread takes at a time: 65 KB of the coarse plane where k is 896.
constexpr std::int64_t kScanGroups = 8;
// In the second pass nearly all of the work is comparing.
constexpr std::int64_t kCompareGroups = 64;

// How many of the rows may have a logit of `floor` or more. Rounding keeps order: where
// coarse + radius * reach is at least the floor, so is its float. NaN, which comes from
// what is infinite, counts as reaching it.
int CountReaching(const float* coarse, const float* radius, std::int64_t count, float reach,
                  float floor) {
  int reaching = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    reaching += !(coarse[i] + radius[i] * reach < floor) ? 1 : 0;
  }
  return reaching;
}

}  // namespace

struct HeadSearch::Call {
  Activations activations;  // from the first row on
  std::int64_t rows;
  float depth;
  float* logits;  // [rows, stride]: first coarse, then exact
  std::int64_t stride;
  std::span<const TokenMask> masks;  // [rows], or empty

  // Logits of the row's tokens from `token` on.
  void ForbidIn(std::int64_t row, std::int64_t token, float* first_logit,
                std::int64_t count) const {
    if (masks.empty()) return;
    Forbid(masks[static_cast<std::size_t>(row)], static_cast<std::size_t>(token),
           {first_logit, static_cast<std::size_t>(count)});
  }
};

HeadSearch::HeadSearch(const Weights& weights, std::int64_t max_rows, int threads)
    : exact_(weights.output),
      coarse_(weights.coarse_head),
      max_rows_(max_rows),
      reach_(static_cast<std::size_t>(max_rows)),
      floor_(static_cast<std::size_t>(max_rows)),
      found_(static_cast<std::size_t>(max_rows * threads)) {}

// The larger logit, of equals the lower id; NaN is never taken. From -infinity and token 0
// on, the result is that of ArgMax.
void HeadSearch::Take(float logit, TokenId token, Best& best) {
  if (logit > best.logit || (logit == best.logit && token < best.token)) best = {logit, token};
}

void HeadSearch::TakeAll(const float* logits, std::int64_t first, std::int64_t count, Best& best) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (logits[i] >= best.logit) Take(logits[i], static_cast<TokenId>(first + i), best);
  }
}

std::span<HeadSearch::Found> HeadSearch::FoundBy(int thread) {
  const auto rows = static_cast<std::size_t>(max_rows_);
  return std::span(found_).subspan(static_cast<std::size_t>(thread) * rows, rows);
}

void HeadSearch::ScanCoarse(const Call& call, TeamMember& member, ThreadSpace& thread) {
  constexpr std::int64_t kColumns = kScanGroups * kGroupRows;
  static_assert(kColumns <= 2 * kUnitColumns);  // of the tile
  const std::span<Found> found = FoundBy(member.index());
  Multiplier multiply(call.activations, call.rows, thread);
  member.Phase(
      {.count = exact_.groups(),
       .chunk = kScanGroups,
       .redo = call.rows <= Workspace::kRedundantRows},
      [] {},
      [&](std::int64_t begin, std::int64_t end) {
        multiply(coarse_.plane, begin, end, thread.tile, kColumns);
      },
      [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t first = begin * kGroupRows;
        const std::int64_t count = std::min(end * kGroupRows, exact_.rows) - first;
        for (std::int64_t row = 0; row < call.rows; ++row) {
          float* logits = call.logits + row * call.stride + first;
          std::copy_n(thread.tile + row * kColumns, (end - begin) * kGroupRows, logits);
          call.ForbidIn(row, first, logits, count);
          TakeAll(logits, first, count, found[static_cast<std::size_t>(row)].coarse);
        }
      });
}

// The largest exact logit of the group that has the best coarse one: no more than the
// largest of all, and nearly always equal to it.
float HeadSearch::BestOfBestGroup(const Call& call, std::size_t row, ThreadSpace& thread) const {
  Best coarse = {kLowest, 0};
  for (std::size_t at = row; at < found_.size(); at += static_cast<std::size_t>(max_rows_)) {
    Take(found_[at].coarse.logit, found_[at].coarse.token, coarse);
  }
  const std::int64_t group = coarse.token / kGroupRows;
  const Activations activations =
      RowsFrom(call.activations, static_cast<std::int64_t>(row), exact_.k);
  Multiplier(activations, 1, thread)(exact_, group, group + 1, thread.tile, kGroupRows);
  const std::int64_t first = group * kGroupRows;
  call.ForbidIn(static_cast<std::int64_t>(row), first, thread.tile,
                std::min(kGroupRows, exact_.rows - first));
  Best exact = {kLowest, 0};
  TakeAll(thread.tile, first, std::min(kGroupRows, exact_.rows - first), exact);
  return exact.logit;
}

void HeadSearch::ScanExact(const Call& call, std::size_t row, TeamMember& member,
                           ThreadSpace& thread) {
  const auto index = static_cast<std::int64_t>(row);
  const Activations activations = RowsFrom(call.activations, index, exact_.k);
  // Every member for itself, which costs less than a barrier.
  const float floor = BestOfBestGroup(call, row, thread) - call.depth;
  if (member.index() == 0) floor_[row] = floor;
  Found& found = FoundBy(member.index())[row];
  Multiplier multiply(activations, 1, thread);
  member.ForEachChunk(exact_.groups(), kCompareGroups, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t group = begin; group < end; ++group) {
      const std::int64_t first = group * kGroupRows;
      const std::int64_t count = std::min(kGroupRows, exact_.rows - first);
      float* logits = call.logits + index * call.stride + first;
      const int reaching = CountReaching(logits, coarse_.radius + first, count, reach_[row], floor);
      if (reaching == 0) {
        std::fill_n(logits, count, kLowest);
        continue;
      }
      multiply(exact_, group, group + 1, logits, call.stride);
      call.ForbidIn(index, first, logits, count);
      TakeAll(logits, first, count, found.exact);
      found.candidates += reaching;
      ++found.groups;
    }
  });
}

HeadResult HeadSearch::Merged(std::size_t row, float floor) const {
  Best best = {kLowest, 0};
  HeadResult result;
  for (std::size_t at = row; at < found_.size(); at += static_cast<std::size_t>(max_rows_)) {
    const Found& found = found_[at];
    Take(found.exact.logit, found.exact.token, best);
    result.candidates += found.candidates;
    result.groups += found.groups;
  }
  result.token = best.token;
  result.logit = best.logit;
  result.floor = floor;
  const std::int64_t all = exact_.groups() * exact_.group_bytes;
  const std::int64_t read = exact_.groups() * coarse_.plane.group_bytes +
                            exact_.rows * static_cast<std::int64_t>(sizeof(float)) +
                            result.groups * exact_.group_bytes;
  result.read_share = static_cast<float>(read) / static_cast<float>(all);
  return result;
}

void HeadSearch::Find(std::int64_t first, float depth, Workspace& space, ThreadTeam& team,
                      float* logits, std::span<HeadResult> out, std::span<const TokenMask> masks) {
  const auto rows = static_cast<std::int64_t>(out.size());
  VIVACE_CHECK(rows <= max_rows_, "more rows than the search was made for");
  const Call call = {.activations = RowsFrom(space.hidden_activations.view(), first, exact_.k),
                     .rows = rows,
                     .depth = depth,
                     .logits = logits,
                     .stride = exact_.groups() * kGroupRows,
                     .masks = masks};
  constexpr Best kNone = {kLowest, 0};
  std::fill(found_.begin(), found_.end(),
            Found{.coarse = kNone, .exact = kNone, .candidates = 0, .groups = 0});
  for (std::size_t row = 0; row < out.size(); ++row) {
    reach_[row] =
        Reach(coarse_, RowsFrom(call.activations, static_cast<std::int64_t>(row), exact_.k));
  }
  team.Run([&](TeamMember& member) {
    ThreadSpace& thread = space.threads[static_cast<std::size_t>(member.index())];
    ScanCoarse(call, member, thread);
    for (std::size_t row = 0; row < out.size(); ++row) ScanExact(call, row, member, thread);
  });
  for (std::size_t row = 0; row < out.size(); ++row) out[row] = Merged(row, floor_[row]);
}

}  // namespace vivace
