// HandOut: how a team shares a loop over [0, count) in pieces of `chunk`. Half of them in one
// run for each member, so that streams through memory stay long, then one by one to whoever
// is free. Members take tickets; each stands for a run or a single piece.
#pragma once

#include <algorithm>
#include <cstdint>

namespace vivace {

struct HandOut {
  std::int64_t count;
  std::int64_t chunk;
  std::int64_t pieces;
  std::int64_t run;   // pieces of a run
  std::int64_t runs;  // the first tickets
  std::int64_t tickets;

  HandOut(std::int64_t count_in, std::int64_t chunk_in, int members)
      : count(count_in),
        chunk(chunk_in),
        pieces((count + chunk - 1) / chunk),
        run(pieces / 2 / members),
        runs(run > 0 ? members : 0),
        tickets(runs + pieces - runs * run) {}

  // The pieces of a ticket.
  std::int64_t first(std::int64_t ticket) const {
    return ticket < runs ? ticket * run : runs * run + (ticket - runs);
  }
  std::int64_t end(std::int64_t ticket) const { return first(ticket) + (ticket < runs ? run : 1); }

  // body(begin, end) with the bounds of a piece.
  template <class Body>
  void Call(const Body& body, std::int64_t piece) const {
    body(piece * chunk, std::min(count, (piece + 1) * chunk));
  }
};

}  // namespace vivace
