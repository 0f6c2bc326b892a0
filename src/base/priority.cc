#include "base/priority.h"

#include <sched.h>

namespace vivace {

// Where the system refuses, the thread has an ordinary priority: slower for others, not wrong.
void LowerPriority() {
  const sched_param parameters{};
  (void)sched_setscheduler(0, SCHED_IDLE, &parameters);
}

}  // namespace vivace
