// VIVACE_CHECK: stops the process when one of our own invariants is broken.
//
// Never for what the outside world can get wrong; that is a Result.
#pragma once

namespace vivace {

// Prints `file:line: check failed: message` to stderr and aborts. Never returns.
[[noreturn]] void CheckFailed(const char* file, int line, const char* message);

}  // namespace vivace

#define VIVACE_CHECK(condition, message)                  \
  do {                                                    \
    if (!(condition)) [[unlikely]]                        \
      ::vivace::CheckFailed(__FILE__, __LINE__, message); \
  } while (false)

// For hot loops: checked in debug builds only.
#ifdef NDEBUG
#define VIVACE_DCHECK(condition, message) \
  do {                                    \
  } while (false)
#else
#define VIVACE_DCHECK(condition, message) VIVACE_CHECK(condition, message)
#endif
