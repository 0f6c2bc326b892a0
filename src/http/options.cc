#include "http/options.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace vivace::http {
namespace {

struct Range {
  const char* name;
  std::uint64_t value;
  std::uint64_t least;
  std::uint64_t most;
};

// Upper ends are where sums of two could leave their types, or where nobody is helped.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 40;
constexpr std::uint64_t kMaxMs = std::uint64_t{30} * 24 * 3600 * 1000;

std::uint64_t Ms(Limits::Duration duration) {
  return duration.count() < 0 ? 0 : static_cast<std::uint64_t>(duration.count());
}

}  // namespace

Result<void> Limits::Check() const {
  const std::array<Range, 9> ranges = {{
      {"header size", header_bytes, 256, std::uint64_t{16} << 20},
      {"body size", body_bytes, 0, kMaxBytes},
      {"stream buffer", stream_bytes, 1, kMaxBytes},
      {"number of connections", connections, 1, 1'000'000},
      {"header time in ms", Ms(header_time), 1, kMaxMs},
      {"body time in ms", Ms(body_time), 1, kMaxMs},
      {"idle time in ms", Ms(idle_time), 1, kMaxMs},
      {"write time in ms", Ms(write_time), 1, kMaxMs},
      {"ping time in ms", Ms(ping_time), 1, kMaxMs},
  }};
  for (const Range& range : ranges) {
    if (range.value >= range.least && range.value <= range.most) continue;
    return Fail(ErrorKind::kBadInput, fmt::format("{} {}, the range is {} to {}", range.name,
                                                  range.value, range.least, range.most));
  }
  return {};
}

// An empty key would let in everybody who sends an empty one; one with spaces, nobody.
Result<void> ServerOptions::Check() const {
  VIVACE_RETURN_IF_ERROR(limits.Check());
  for (const std::string& key : api_keys) {
    const auto printable = [](char c) { return c > ' ' && c <= '~'; };
    if (key.empty() || !std::ranges::all_of(key, printable))
      return Fail(ErrorKind::kBadInput,
                  "an API key is empty or has characters other than printable ASCII");
  }
  return {};
}

}  // namespace vivace::http
