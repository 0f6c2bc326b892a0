#include "api/new_id.h"

#include <random>

namespace vivace {

std::string NewId(std::string_view prefix) {
  static constexpr std::string_view kLetters =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  thread_local std::mt19937_64 random(std::random_device{}());
  std::uniform_int_distribution<std::size_t> letter(0, kLetters.size() - 1);
  std::string id(prefix);
  for (int i = 0; i < 24; ++i) id += kLetters[letter(random)];
  return id;
}

}  // namespace vivace
