// Ctrl-C: stops the answer that is being written, or the program when there is none.
//
// SIGINT and SIGTERM are taken by a thread of its own, so what they do is ordinary code.
#pragma once

#include <stop_token>

namespace vivace {

// Call before any other thread starts: threads inherit the blocked signal.
void WatchInterrupts();

// While one exists, Ctrl-C requests its stop, and a second one ends the process with 130;
// so does the first where there is none, or, after IgnoreInterrupts(true), does nothing (a
// line editor handles its own keys).
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  bool interrupted() const { return source_.stop_requested(); }

 private:
  std::stop_source source_;
};

void IgnoreInterrupts(bool ignore);

}  // namespace vivace
