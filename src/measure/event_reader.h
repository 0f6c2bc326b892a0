// EventReader: takes a stream of server-sent events apart, however the bytes are cut.
//
// Only the data of events is handed on: names, ids and comments are skipped. Lines may end
// in LF, CR LF or CR, as the format has it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace vivace {

class EventReader {
 public:
  // An event beyond that is no answer of a chat server.
  static constexpr std::size_t kMaxEventBytes = std::size_t{4} << 20;

  using Sink = std::function<void(std::string_view data)>;

  // False when an event is too large: nothing more is read then.
  bool Take(std::string_view bytes, const Sink& sink);
  // The end of the stream: an event without its empty line still counts.
  void Finish(const Sink& sink);

 private:
  void TakeLine(const Sink& sink);
  void Dispatch(const Sink& sink);

  std::string line_;
  std::string data_;
  bool has_data_ = false;
  bool after_cr_ = false;  // a line feed that comes now belongs to it
};

}  // namespace vivace
