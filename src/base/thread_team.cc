#include "base/thread_team.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <system_error>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace vivace {
namespace {

using Clock = std::chrono::steady_clock;

// Spinning never gets shorter than this: a wait that is over at once must show that it is
// worth while again.
constexpr std::chrono::nanoseconds kLeastPatience{2000};

// Tells the core that this is a spin loop.
void Pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void PinThisThread(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  // Fails for a cpu that has gone away since it was listed: then the system chooses.
  pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

}  // namespace

ThreadTeam::ThreadTeam(const Options& options)
    : size_(options.threads < 1 ? 1 : options.threads),
      spin_(options.spin),
      counters_(kCounters),
      patience_(static_cast<std::size_t>(size_), {.barrier = spin_, .job = spin_}) {
  const auto pin = [cpus = options.cpus](int index) {
    const auto at = static_cast<std::size_t>(index);
    if (at < cpus.size()) PinThisThread(cpus[at]);
  };
  threads_.reserve(static_cast<std::size_t>(size_ - 1));
  try {
    for (int index = 1; index < size_; ++index) {
      threads_.emplace_back([this, pin, index] {
        pin(index);
        Serve(index);
      });
    }
  } catch (const std::system_error&) {
    // No member reads size_ before its first job.
    size_ = static_cast<int>(threads_.size()) + 1;
  }
}

ThreadTeam::~ThreadTeam() {
  stopping_ = true;
  Notify(job_number_, job_number_.value.load(std::memory_order_relaxed) + 1);
  for (std::thread& thread : threads_) thread.join();
}

void ThreadTeam::RunJob(JobFunction function, const void* context) {
  for (Counter& counter : counters_) counter.next.store(0, std::memory_order_relaxed);
  function_ = function;
  context_ = context;
  if (size_ > 1) Notify(job_number_, job_number_.value.load(std::memory_order_relaxed) + 1);
  TeamMember member(*this, 0);
  function(context, member);
  member.Barrier();
  meetings_before_ = member.meeting_;
}

void ThreadTeam::Serve(int index) {
  for (std::uint32_t seen = 0;; ++seen) {
    Wait(job_number_, seen, patience_[static_cast<std::size_t>(index)].job);
    if (stopping_) return;
    TeamMember member(*this, index);
    function_(context_, member);
    member.Barrier();
  }
}

bool ThreadTeam::IsOver(std::uint64_t number) const {
  // Within a job the two are never 2^31 apart.
  const std::uint32_t over = meetings_.value.load(std::memory_order_acquire);
  return static_cast<std::int32_t>(over - static_cast<std::uint32_t>(number)) >= 0;
}

void ThreadTeam::End(std::uint64_t number) {
  Notify(meetings_, static_cast<std::uint32_t>(number));
}

bool ThreadTeam::WaitFor(std::uint64_t number, std::chrono::nanoseconds limit) const {
  const Clock::time_point deadline = Clock::now() + limit;
  do {
    for (int i = 0; i < 16; ++i) {
      if (IsOver(number)) return true;
      Pause();
    }
  } while (Clock::now() < deadline);
  return false;
}

void ThreadTeam::Wait(Signal& signal, std::uint32_t old, std::chrono::nanoseconds& patience) const {
  const auto changed = [&] { return signal.value.load(std::memory_order_acquire) != old; };
  if (patience.count() > 0) {
    const Clock::time_point deadline = Clock::now() + patience;
    do {
      for (int i = 0; i < 16; ++i) {
        if (changed()) {
          patience = std::min<std::chrono::nanoseconds>(2 * patience, spin_);
          return;
        }
        Pause();
      }
    } while (Clock::now() < deadline);
    patience = std::max(patience / 2, kLeastPatience);
  }
  // Sequentially consistent on both sides: either Notify sees the sleeper or the sleeper
  // sees the new value.
  signal.sleepers.fetch_add(1);
  while (!changed()) signal.value.wait(old);
  signal.sleepers.fetch_sub(1);
}

void ThreadTeam::Notify(Signal& signal, std::uint32_t value) {
  signal.value.store(value);
  if (signal.sleepers.load() != 0) signal.value.notify_all();
}

void TeamMember::Barrier() {
  loops_since_barrier_ = 0;
  if (team_.size_ == 1) return;
  const std::uint64_t number = ++meeting_;
  if (team_.arrived_.count.fetch_add(1, std::memory_order_acq_rel) + 1 == team_.size_) {
    team_.arrived_.count.store(0, std::memory_order_relaxed);
    team_.End(number);
  } else {
    WaitUntilOver(number);
  }
}

void TeamMember::WaitUntilOver(std::uint64_t number) {
  team_.Wait(team_.meetings_, static_cast<std::uint32_t>(number - 1),
             team_.patience_[static_cast<std::size_t>(index_)].barrier);
}

}  // namespace vivace
