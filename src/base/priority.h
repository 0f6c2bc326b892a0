// What a thread may do to stay out of the way of others.
#pragma once

namespace vivace {

// Has the calling thread run only where no other has work for a processor, for good.
void LowerPriority();

}  // namespace vivace
