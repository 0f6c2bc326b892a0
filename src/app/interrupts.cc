#include "app/interrupts.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <mutex>
#include <thread>

#include "app/commands.h"

namespace vivace {
namespace {

struct State {
  std::mutex mutex;
  std::stop_source* current = nullptr;
  bool ignore = false;
};

// Outlives the watching thread, which is never joined.
State& Shared() {
  static State& state = *new State();
  return state;
}

void OnInterrupt(bool terminate) {
  State& state = Shared();
  const std::lock_guard lock(state.mutex);
  if (state.current != nullptr) {
    if (!state.current->request_stop()) _exit(kExitInterrupted);
  } else if (terminate || !state.ignore) {
    _exit(kExitInterrupted);
  }
}

}  // namespace

void WatchInterrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::thread([set] {
    for (int signal = 0; sigwait(&set, &signal) == 0;) OnInterrupt(signal == SIGTERM);
  }).detach();
}

InterruptScope::InterruptScope() {
  const std::lock_guard lock(Shared().mutex);
  Shared().current = &source_;
}

InterruptScope::~InterruptScope() {
  const std::lock_guard lock(Shared().mutex);
  Shared().current = nullptr;
}

void IgnoreInterrupts(bool ignore) {
  const std::lock_guard lock(Shared().mutex);
  Shared().ignore = ignore;
}

}  // namespace vivace
