#include "app/human.h"

#include <cstdint>

#include <fmt/format.h>

namespace vivace {

std::string HumanBytes(double bytes) {
  if (bytes < 1e6) return fmt::format("{:.0f} kB", bytes / 1e3);
  if (bytes < 1e9) return fmt::format("{:.1f} MB", bytes / 1e6);
  return fmt::format("{:.2f} GB", bytes / 1e9);
}

std::string HumanSeconds(double seconds) {
  if (seconds > 360000) return "more than 100 h";
  const auto whole = static_cast<std::int64_t>(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string Printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : ' ');
    // U+0080 to U+009F are two bytes in UTF-8, and control characters as well.
    const bool high_control = byte == 0xC2 && next >= 0x80 && next < 0xA0;
    if (high_control) ++i;
    const bool control = (byte < 0x20 && byte != '\n') || byte == 0x7F || high_control;
    out += control ? '?' : static_cast<char>(byte);
  }
  return out;
}

}  // namespace vivace
