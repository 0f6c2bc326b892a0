#include "measure/text_maker.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace vivace {
namespace {

constexpr std::array<std::string_view, 64> kWords = {
    "river",   "stone",   "market",   "window",  "garden",  "letter",  "silver", "engine",
    "morning", "paper",   "bridge",   "cloud",   "forest",  "music",   "number", "school",
    "doctor",  "travel",  "winter",   "summer",  "picture", "station", "island", "mountain",
    "history", "science", "village",  "captain", "harbor",  "bread",   "horse",  "light",
    "water",   "king",    "question", "answer",  "circle",  "house",   "street", "train",
    "color",   "story",   "north",    "south",   "ocean",   "field",   "glass",  "metal",
    "people",  "child",   "year",     "hand",    "night",   "friend",  "road",   "table",
    "group",   "power",   "flower",   "machine", "company", "teacher", "book",   "city"};

}  // namespace

// SplitMix64 (Steele, Lea and Flood, 2014).
std::uint64_t TextMaker::Number(std::uint64_t below) {
  state_ += 0x9E3779B97F4A7C15;
  std::uint64_t value = state_;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return (value ^ (value >> 31)) % below;
}

std::string_view TextMaker::Word() { return kWords[Number(kWords.size())]; }

std::string TextMaker::Note() { return fmt::format("Note {}.", 100000 + Number(900000)); }

std::string TextMaker::Sentence() {
  std::string sentence(Word());
  sentence[0] = static_cast<char>(sentence[0] - 'a' + 'A');
  const std::uint64_t more = 7 + Number(8);
  for (std::uint64_t i = 0; i < more; ++i) sentence += fmt::format(" {}", Word());
  return sentence + ".";
}

std::string TextMaker::Text(std::size_t words) {
  std::string text;
  for (std::size_t count = 0; count < words;) {
    const std::string sentence = Sentence();
    count += static_cast<std::size_t>(std::count(sentence.begin(), sentence.end(), ' ')) + 1;
    text += (text.empty() ? "" : " ") + sentence;
  }
  return text;
}

}  // namespace vivace
