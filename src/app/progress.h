// ProgressLine: one line on standard error, drawn over and over, for work that takes longer
// than half a second. Nothing where standard error is no terminal.
#pragma once

#include <string>
#include <string_view>

namespace vivace {

class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { Wipe(); }

  // `share` is 0 to 1, `what` what is being done.
  void Show(double share, std::string_view what);
  // Takes the line away, before something else is printed.
  void Wipe();

 private:
  bool terminal_;
  bool shown_ = false;
  double start_ms_;
};

}  // namespace vivace
