#include "api/read_limit.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "machine/read_target.h"
#include "measure/model_work.h"

namespace vivace {
namespace {

constexpr std::chrono::seconds kIdle(3);
// Some milliseconds of reading, much more than a core's own caches hold.
constexpr std::size_t kPieceBytes = std::size_t{64} << 20;
constexpr std::size_t kMostPieces = 24;

using Parts = std::vector<std::span<const std::byte>>;

// The weights, cut into pieces of that size; a small model is one piece.
std::vector<Parts> Pieces(const Model& model) {
  std::vector<Parts> pieces(1);
  std::size_t room = kPieceBytes;
  for (std::span<const std::byte> part : WeightBytes(model)) {
    while (!part.empty()) {
      if (room == 0) {
        pieces.emplace_back();
        room = kPieceBytes;
      }
      pieces.back().push_back(part.first(std::min(room, part.size())));
      room -= pieces.back().back().size();
      part = part.subspan(pieces.back().back().size());
    }
  }
  // The last one may be too small for a figure.
  if (pieces.size() > 1 && room > kPieceBytes / 2) pieces.pop_back();
  return pieces;
}

// Nothing when a request is there.
std::optional<double> Read(Engine& engine, const Parts& piece) {
  const auto speed = std::make_shared<std::promise<std::optional<double>>>();
  engine.LendTeam([speed, &piece](ThreadTeam* team) {
    if (team == nullptr) return speed->set_value(std::nullopt);
    speed->set_value(ReadTarget(piece).Read(*team, team->size()));
  });
  return speed->get_future().get();
}

}  // namespace

ReadLimit::ReadLimit(ModelPool& models)
    : models_(models), thread_([this](const std::stop_token& stop) { Run(stop); }) {}

std::optional<std::int64_t> ReadLimit::WorkDone() {
  std::int64_t steps = 0;
  for (const ModelPool::Loaded& loaded : models_.List()) {
    const EngineMetrics& metrics = loaded.model->engine().metrics();
    if (metrics.running.value() > 0 || metrics.waiting.value() > 0) return std::nullopt;
    steps += metrics.steps.value();
  }
  return steps;
}

void ReadLimit::Run(const std::stop_token& stop) {
  double fastest = 0;
  std::size_t done = 0;
  std::optional<std::int64_t> before;
  while (!stop.stop_requested() && done < kMostPieces) {
    {
      std::unique_lock lock(mutex_);
      stopped_.wait_for(lock, stop, kIdle, [] { return false; });
    }
    const auto now = WorkDone();
    const bool idle = now && now == std::exchange(before, now);
    const ModelLease model = idle && models_.ready() ? models_.Peek("") : nullptr;
    if (!model) continue;
    const std::vector<Parts> pieces = Pieces(model->model());
    while (!stop.stop_requested() && done < kMostPieces && WorkDone() == now) {
      const auto speed = Read(model->engine(), pieces[done % pieces.size()]);
      if (!speed) break;
      fastest = std::max(fastest, *speed);
      ++done;
    }
  }
  // The fastest: whatever else the machine does, this is what its memory has given.
  if (done == kMostPieces) speed_.store(fastest, std::memory_order_relaxed);
}

}  // namespace vivace
