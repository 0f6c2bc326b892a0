#include "http/request_id.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <random>

#include <fmt/format.h>

namespace vivace::http {
namespace {

constexpr std::size_t kMaxLength = 128;
constexpr std::string_view kSane =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:/+=@";

// Unique within and, very likely, between processes; nothing secret hangs on it.
std::string NewId() {
  static const std::uint64_t process = [] {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device();
  }();
  static std::atomic<std::uint32_t> count{0};
  return fmt::format("{:016x}{:08x}", process, count.fetch_add(1, std::memory_order_relaxed));
}

}  // namespace

std::string RequestId(std::string_view given) {
  const bool sane = !given.empty() && given.size() <= kMaxLength &&
                    given.find_first_not_of(kSane) == std::string_view::npos;
  return sane ? std::string(given) : NewId();
}

}  // namespace vivace::http
