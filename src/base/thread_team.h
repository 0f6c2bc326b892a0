// ThreadTeam: a fixed number of threads that run one job at a time, together.
//
// The caller is member 0. Between jobs the others spin briefly, then sleep: an idle
// team costs no CPU. Inside a job, members meet at barriers and share loops through
// counters, so a member that the system disturbs does less and holds nobody up.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

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
  void Wait(Signal& signal, std::uint32_t old, std::chrono::nanoseconds& patience) const;
  static void Notify(Signal& signal, std::uint32_t value);

  int size_;
  std::chrono::microseconds spin_;
  Signal job_number_;  // the others wait here for work
  Signal generation_;  // of the barrier
  struct alignas(64) {
    std::atomic<int> count{0};
  } arrived_;
  std::vector<Counter> counters_;
  std::vector<Patience> patience_;  // of each member
  JobFunction function_ = nullptr;
  const void* context_ = nullptr;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
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
  // one member: body(begin, end). Half of them in one run for each member, so that streams
  // through memory stay long, then one by one to whoever is free. All members call it with the same
  // arguments, in the same order. Returns when no piece is left to take: the others may still be
  // busy, so a Barrier must come before their results are read. The hand-out itself orders no
  // memory. Precondition: chunk >= 1.
  template <class Body>
  void ForEachChunk(std::int64_t count, std::int64_t chunk, const Body& body) {
    if (loops_since_barrier_ == ThreadTeam::kCounters) Barrier();
    ++loops_since_barrier_;
    std::atomic<std::int64_t>& next = team_.counters_[slot_].next;
    const std::int64_t base = bases_[slot_];
    const std::int64_t run = count / chunk / 2 / team_.size_ * chunk;
    const std::int64_t runs = run > 0 ? team_.size_ : 0;
    const std::int64_t tickets = runs + (count - runs * run + chunk - 1) / chunk;
    for (;;) {
      const std::int64_t ticket = next.fetch_add(1, std::memory_order_relaxed) - base;
      if (ticket >= tickets) break;
      const bool is_run = ticket < runs;
      std::int64_t begin = is_run ? ticket * run : runs * run + (ticket - runs) * chunk;
      const std::int64_t end = is_run ? begin + run : begin + 1;
      for (; begin < end; begin += chunk) {
        body(begin, begin + chunk < count ? begin + chunk : count);
      }
    }
    // Every member takes one ticket beyond the last.
    bases_[slot_] = base + tickets + team_.size_;
    slot_ = (slot_ + 1) % ThreadTeam::kCounters;
  }

 private:
  friend class ThreadTeam;
  TeamMember(ThreadTeam& team, int index) : team_(team), index_(index) {}
  ThreadTeam& team_;
  int index_;
  std::uint32_t slot_ = 0;
  std::uint32_t loops_since_barrier_ = 0;
  std::int64_t bases_[ThreadTeam::kCounters] = {};
};

}  // namespace vivace
