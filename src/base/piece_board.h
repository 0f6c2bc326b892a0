// PieceBoard: which pieces of a team's phase are taken, and which are published.
//
// A piece may be computed by several threads, each into memory of its own; one of them wins
// it and publishes its result. A phase is over when all its pieces are published, whoever is
// still at work. Phases have ascending numbers from 1 on and follow each other; who is late
// finds a larger number on the board and gets nothing.
//
// Why what is published is right: a thread enters phase n when n - 1 is over and has seen
// that, so it sees what all earlier phases published. Nothing that pieces of phase n read is
// written by pieces of phase n, and phase n + 1 does not begin while a piece of n is not
// counted. So who wins a piece of n has read nothing but the inputs of n. Who does not win may
// have read what later phases wrote, or half of it, and throws its result away.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace vivace {

class PieceBoard {
 public:
  // Phases of more have no place here. Enough for an output matrix of 260 000 rows.
  static constexpr std::int64_t kMaxPieces = 2048;

  // The next of the phase's `tickets`, or -1 where none is left or a later phase has begun.
  std::int64_t Take(std::uint64_t phase, std::int64_t tickets) {
    std::uint64_t seen = ticket_.load(std::memory_order_relaxed);
    for (;;) {
      if (seen >> kTicketBits > phase) return -1;
      const bool begun = seen >> kTicketBits == phase;
      const std::uint64_t next = begun ? seen : phase << kTicketBits;
      const auto ticket = static_cast<std::int64_t>(next & kTicketMask);
      if (ticket >= tickets) return -1;
      if (ticket_.compare_exchange_weak(seen, next + 1, std::memory_order_relaxed)) return ticket;
    }
  }

  bool IsWon(std::uint64_t phase, std::int64_t piece) const {
    return won_[static_cast<std::size_t>(piece)].load(std::memory_order_relaxed) >= phase;
  }

  // True for one thread only, which must then publish the piece and count it.
  bool Win(std::uint64_t phase, std::int64_t piece) {
    std::atomic<std::uint64_t>& won = won_[static_cast<std::size_t>(piece)];
    std::uint64_t last = won.load(std::memory_order_relaxed);
    return last < phase && won.compare_exchange_strong(last, phase, std::memory_order_relaxed);
  }

  // True for the last of the phase's `pieces`: then all that was published is visible.
  bool Count(std::int64_t pieces) {
    if (published_.fetch_add(1, std::memory_order_acq_rel) + 1 < pieces) return false;
    published_.store(0, std::memory_order_relaxed);
    return true;
  }

 private:
  static constexpr int kTicketBits = 12;
  static constexpr std::uint64_t kTicketMask = (1U << kTicketBits) - 1;
  static_assert(kMaxPieces < kTicketMask);

  alignas(64) std::atomic<std::uint64_t> ticket_{0};    // of which phase, and the next
  alignas(64) std::atomic<std::int64_t> published_{0};  // pieces of the phase that is not over
  // The last phase in which the piece was won: 64 bits, or a piece that is rarely there would
  // meet numbers that have wrapped.
  alignas(64) std::array<std::atomic<std::uint64_t>, kMaxPieces> won_ = {};
};

}  // namespace vivace
