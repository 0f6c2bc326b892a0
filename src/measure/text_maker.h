// TextMaker: plain English-looking text from a seed, the same on every machine.
//
// Made of common words, about one token each for every tokenizer in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace vivace {

class TextMaker {
 public:
  explicit TextMaker(std::uint64_t seed) : state_(seed) {}

  // Below `below`, which is not 0.
  std::uint64_t Number(std::uint64_t below);
  std::string_view Word();
  // "Note 123456." in front of a text makes it a new one.
  std::string Note();
  std::string Sentence();
  // Sentences with at least so many words in all.
  std::string Text(std::size_t words);

 private:
  std::uint64_t state_;
};

}  // namespace vivace
