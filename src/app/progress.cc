#include "app/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "app/human.h"
#include "base/clock.h"

namespace vivace {

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) != 0), start_ms_(NowMs()) {}

void ProgressLine::Wipe() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

void ProgressLine::Show(double share, std::string_view what) {
  constexpr double kQuietMs = 500;
  constexpr int kWidth = 24;
  const double elapsed = NowMs() - start_ms_;
  if (!terminal_ || elapsed < kQuietMs) return;
  shown_ = true;
  share = std::clamp(share, 0.0, 1.0);
  const double left = share > 0.02 ? elapsed / 1000 * (1 - share) / share : 0;
  fmt::print(stderr, "\r[{:<{}}] {:3.0f} % {}{}\033[K",
             std::string(static_cast<std::size_t>(share * kWidth), '#'), kWidth, 100 * share, what,
             left >= 1 ? fmt::format(", {} left", HumanSeconds(left)) : "");
  std::fflush(stderr);
}

}  // namespace vivace
