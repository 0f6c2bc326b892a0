// ThreadTeam: a fixed number of threads that run one job at a time, together.
//
// The caller is member 0. Between jobs the others spin briefly, then sleep: an idle
// team costs no CPU. Inside a job, members meet at barriers and share loops through
// counters, so a member that the system disturbs does less. In a Phase it holds nobody up
// even if the system stops it: those who wait do its pieces again.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "base/discardable_reads.h"
#include "base/hand_out.h"
#include "base/piece_board.h"

namespace vivace {

class TeamMember;

class ThreadTeam {
 public:
  struct Options {
    int threads = 1;
    // The cpu of each member but the caller, whose thread is not ours to bind. Members
    // beyond the list, or all if it is empty: the system chooses.
    std::vector<int> cpus = {};
    // How long a waiting member spins at most before it sleeps. 0 where there are fewer
    // processors than threads: spinning would take them from those who work.
    std::chrono::microseconds spin{50};
  };

  // Smaller than asked for where the system refuses more threads.
  explicit ThreadTeam(const Options& options);
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  ~ThreadTeam();

  int size() const { return size_; }

  // Calls job(TeamMember&) on every member and returns when all have returned. What the
  // caller wrote before is visible to them, and what they wrote to the caller after. Not
  // reentrant, and for one calling thread at a time. Does not allocate. The job must not
  // throw.
  template <class Job>
  void Run(const Job& job) {
    RunJob([](const void* context,
              TeamMember& member) { (*static_cast<const Job*>(context))(member); },
           &job);
  }

 private:
  friend class TeamMember;
  using JobFunction = void (*)(const void* context, TeamMember& member);

  // A value that members wait on, alone on its cache line.
  struct alignas(64) Signal {
    std::atomic<std::uint32_t> value{0};
    std::atomic<std::uint32_t> sleepers{0};
  };
  struct alignas(64) Counter {
    std::atomic<std::int64_t> next{0};
  };
  // How long one member spins at a barrier and for a job: halved when that was in vain,
  // doubled when not. Where other programs want the processors, the one waited for may
  // not be running at all, and spinning would only use up this member's own time slice.
  struct alignas(64) Patience {
    std::chrono::nanoseconds barrier{0};
    std::chrono::nanoseconds job{0};
  };
  // ForEachChunk number n of a job uses counter n % kCounters. Counters only go up: each
  // loop raises its counter by the same amount, so every member knows where the next
  // one starts. A barrier at least every kCounters loops keeps two loops off one counter.
  static constexpr std::uint32_t kCounters = 4;

  void RunJob(JobFunction function, const void* context);
  void Serve(int index);
  // Meeting `number`, a barrier or a phase, of which all since the team was made are counted.
  bool IsOver(std::uint64_t number) const;
  void End(std::uint64_t number);
  bool WaitFor(std::uint64_t number, std::chrono::nanoseconds limit) const;
  void Wait(Signal& signal, std::uint32_t old, std::chrono::nanoseconds& patience) const;
  static void Notify(Signal& signal, std::uint32_t value);

  int size_;
  std::chrono::microseconds spin_;
  Signal job_number_;  // the others wait here for work
  Signal meetings_;    // that are over, modulo 2^32
  struct alignas(64) {
    std::atomic<int> count{0};
  } arrived_;
  PieceBoard board_;
  std::vector<Counter> counters_;
  std::vector<Patience> patience_;  // of each member
  JobFunction function_ = nullptr;
  const void* context_ = nullptr;
  std::uint64_t meetings_before_ = 0;  // the job
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

// A phase of a job: [0, count) in pieces of `chunk` >= 1.
struct PhaseShape {
  std::int64_t count;
  std::int64_t chunk;
  bool redo;  // waiting members do others' pieces again
};

// One member's view of a running job.
class TeamMember {
 public:
  int index() const { return index_; }
  int size() const { return team_.size_; }

  // Returns when all members have called it. What any member wrote before it is visible
  // to every member after it.
  void Barrier();

  // Hands out [0, count) in pieces of `chunk` (the last may be smaller), each to exactly
  // one member: body(begin, end). All members call it with the same arguments, in the same
  // order. Returns when no piece is left to take: the others may still be busy, so a Barrier
  // must come before their results are read. The hand-out itself orders no memory.
  // Precondition: chunk >= 1.
  template <class Body>
  void ForEachChunk(std::int64_t count, std::int64_t chunk, const Body& body) {
    if (loops_since_barrier_ == ThreadTeam::kCounters) Barrier();
    ++loops_since_barrier_;
    std::atomic<std::int64_t>& next = team_.counters_[slot_].next;
    const std::int64_t base = bases_[slot_];
    const HandOut hand_out(count, chunk, team_.size_);
    for (;;) {
      const std::int64_t ticket = next.fetch_add(1, std::memory_order_relaxed) - base;
      if (ticket >= hand_out.tickets) break;
      for (std::int64_t at = hand_out.first(ticket); at < hand_out.end(ticket); ++at) {
        hand_out.Call(body, at);
      }
    }
    // Every member takes one ticket beyond the last.
    bases_[slot_] = base + hand_out.tickets + team_.size_;
    slot_ = (slot_ + 1) % ThreadTeam::kCounters;
  }

  // A loop and what comes before and after it. prepare() is for each member to do for itself,
  // compute(begin, end) leaves the result of a piece in memory of the member's own, and
  // publish(begin, end) writes it where others will read it. Called by all, in the same order.
  // Returns when all pieces are published, and then they are visible.
  //
  // With `redo`, a member that is not running holds nobody up unless it is in publish. Prepare
  // and compute may then run long after the phase is over, up to the end of the job, where
  // their inputs have been overwritten: they must not use them as addresses, and no piece may
  // read what the phase publishes. Each piece is published once, by one who has read the right
  // inputs (piece_board.h). It is no Barrier for loops before it: who is late does its part of
  // them when it comes.
  template <class Prepare, class Compute, class Publish>
  void Phase(const PhaseShape& shape, const Prepare& prepare, const Compute& compute,
             const Publish& publish) {
    const HandOut hand_out(shape.count, shape.chunk, team_.size_);
    if (shape.redo && CanRedo(hand_out)) {
      RedoablePhase(hand_out, prepare, compute, publish);
      return;
    }
    prepare();
    ForEachChunk(shape.count, shape.chunk, [&](std::int64_t begin, std::int64_t end) {
      compute(begin, end);
      publish(begin, end);
    });
    Barrier();
  }

 private:
  friend class ThreadTeam;
  using Clock = std::chrono::steady_clock;
  // About as long as a phase of a decode step: who has waited for that long helps.
  static constexpr std::chrono::nanoseconds kHeldUp{100'000};

  TeamMember(ThreadTeam& team, int index)
      : team_(team), index_(index), meeting_(team.meetings_before_) {}

  // Only where every member has a processor: else those who wait must give theirs up.
  bool CanRedo(const HandOut& hand_out) const {
    return team_.size_ > 1 && team_.spin_.count() > 0 && hand_out.pieces > 0 &&
           hand_out.pieces <= PieceBoard::kMaxPieces;
  }

  template <class Prepare, class Compute, class Publish>
  void RedoablePhase(const HandOut& hand_out, const Prepare& prepare, const Compute& compute,
                     const Publish& publish) {
    const std::uint64_t number = ++meeting_;
    if (team_.IsOver(number)) return;
    WithDiscardableReads(prepare);
    const auto work = [&](std::int64_t piece) {
      if (team_.board_.IsWon(number, piece)) return;
      WithDiscardableReads([&] { hand_out.Call(compute, piece); });
      if (!team_.board_.Win(number, piece)) return;
      hand_out.Call(publish, piece);
      if (team_.board_.Count(hand_out.pieces)) team_.End(number);
    };
    const Clock::time_point begun = Clock::now();
    std::int64_t mine = 1;
    for (;;) {
      const std::int64_t ticket = team_.board_.Take(number, hand_out.tickets);
      if (ticket < 0) break;
      const std::int64_t end = hand_out.end(ticket);
      for (std::int64_t at = hand_out.first(ticket); at < end; ++at) work(at);
      mine += end - hand_out.first(ticket);
    }
    // Where pieces take long by themselves, nobody is held up yet.
    if (team_.WaitFor(number, std::max(kHeldUp, 4 * (Clock::now() - begun) / mine))) return;
    // Downwards, for whoever is held up goes on upwards; each member from another place.
    const std::int64_t start = hand_out.pieces - 1 - index_ * hand_out.pieces / team_.size_;
    for (std::int64_t i = hand_out.pieces; i > 0 && !team_.IsOver(number); --i) {
      work((start + i) % hand_out.pieces);
    }
    WaitUntilOver(number);
  }
  void WaitUntilOver(std::uint64_t number);

  ThreadTeam& team_;
  int index_;
  std::uint64_t meeting_;  // the number of the last one
  std::uint32_t slot_ = 0;
  std::uint32_t loops_since_barrier_ = 0;
  std::int64_t bases_[ThreadTeam::kCounters] = {};
};

}  // namespace vivace
