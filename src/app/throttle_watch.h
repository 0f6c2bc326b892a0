// ThrottleWatch: tells on stderr, when it ends, that the container's quota of processor
// time has stopped the process meanwhile: what looks like a slow program then is none.
#pragma once

#include "base/quota.h"

namespace vivace {

class ThrottleWatch {
 public:
  explicit ThrottleWatch(int threads);
  ThrottleWatch(const ThrottleWatch&) = delete;
  ThrottleWatch& operator=(const ThrottleWatch&) = delete;
  ~ThrottleWatch();

 private:
  int threads_;
  Throttling before_;
};

}  // namespace vivace
