#include "measure/event_reader.h"

namespace vivace {

bool EventReader::Take(std::string_view bytes, const Sink& sink) {
  while (!bytes.empty()) {
    if (after_cr_ && bytes.front() == '\n') bytes.remove_prefix(1);
    after_cr_ = false;
    const std::size_t end = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, end);
    if (line_.size() + data_.size() > kMaxEventBytes) return false;
    if (end == std::string_view::npos) return true;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    TakeLine(sink);
  }
  return true;
}

void EventReader::Finish(const Sink& sink) {
  TakeLine(sink);
  Dispatch(sink);
}

void EventReader::TakeLine(const Sink& sink) {
  if (line_.empty()) return Dispatch(sink);
  std::string_view line = line_;
  if (line.starts_with("data:")) {
    line.remove_prefix(5);
    if (line.starts_with(' ')) line.remove_prefix(1);
    if (has_data_) data_ += '\n';
    data_ += line;
    has_data_ = true;
  }
  line_.clear();
}

void EventReader::Dispatch(const Sink& sink) {
  if (has_data_) sink(data_);
  data_.clear();
  has_data_ = false;
}

}  // namespace vivace
