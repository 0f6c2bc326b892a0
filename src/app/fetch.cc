#include "app/fetch.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "app/human.h"
#include "app/interrupts.h"
#include "base/clock.h"

namespace vivace {
namespace {

// One download's line on standard error.
class ProgressBar {
 public:
  ProgressBar() : terminal_(isatty(STDERR_FILENO) != 0) {}
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() {
    if (terminal_ && open_line_) fmt::print(stderr, "\n");
  }

  void Show(std::uint64_t done, std::uint64_t total) {
    const double now = NowMs();
    if (shown_ms_ == 0) first_ = {now, done};
    const bool complete = total != 0 && done >= total;
    const double pause = terminal_ ? kTerminalPauseMs : kPlainPauseMs;
    if (complete ? complete_ : now - shown_ms_ < pause) return;
    shown_ms_ = now;
    complete_ = complete;
    Print(Line(now, done, total));
  }

 private:
  static constexpr double kTerminalPauseMs = 100;
  static constexpr double kPlainPauseMs = 5000;
  static constexpr int kWidth = 24;

  struct Start {
    double ms;
    std::uint64_t bytes;  // what an earlier try left does not count as speed
  };

  std::string Line(double now, std::uint64_t done, std::uint64_t total) const {
    const double rate =
        static_cast<double>(done - std::min(done, first_.bytes)) / (now - first_.ms + 1) * 1000;
    const std::string speed = HumanBytes(rate) + "/s";
    const auto bytes = static_cast<double>(done);
    if (total == 0) return fmt::format("{} ({})", HumanBytes(bytes), speed);
    const double share = std::min(1.0, bytes / static_cast<double>(total));
    const double left = rate > 0 ? (static_cast<double>(total) - bytes) / rate : 0;
    return fmt::format("[{:<{}}] {:3.0f} % of {} ({}{})",
                       std::string(static_cast<std::size_t>(share * kWidth), '#'), kWidth,
                       100 * share, HumanBytes(static_cast<double>(total)), speed,
                       left >= 1 ? fmt::format(", {} left", HumanSeconds(left)) : "");
  }

  void Print(const std::string& line) {
    if (terminal_) {
      fmt::print(stderr, "\r{}\033[K", line);
    } else {
      fmt::print(stderr, "{}\n", line);
    }
    open_line_ = true;
  }

  bool terminal_;
  bool open_line_ = false;
  bool complete_ = false;
  Start first_ = {0, 0};
  double shown_ms_ = 0;  // 0: never
};

}  // namespace

PullEvents ConsoleEvents(std::stop_token stop) {
  // Each line that is said ends the bar before it.
  auto bar = std::make_shared<std::unique_ptr<ProgressBar>>(std::make_unique<ProgressBar>());
  return {.say =
              [bar](const std::string& line) {
                bar->reset();
                fmt::print(stderr, "{}\n", line);
                *bar = std::make_unique<ProgressBar>();
              },
          .progress = [bar](std::uint64_t done, std::uint64_t total) { (*bar)->Show(done, total); },
          .stop = std::move(stop)};
}

Result<ResolvedModel> FetchIfMissing(const std::string& model) {
  const InterruptScope interrupt;
  auto resolved = Resolve(model, ConsoleEvents(interrupt.token()));
  if (!resolved && resolved.error().kind == ErrorKind::kCancelled) {
    fmt::print(stderr, "vivace: interrupted, the next try goes on from here\n");
  }
  return resolved;
}

}  // namespace vivace
