// ControlTexts: keeps text that people wrote from becoming control tokens.
//
// A template prints control tokens such as <|im_end|> as text. Before that, Break() puts a marker
// into all that could be or become one; then Split() finds those that the template itself wrote.
// Holds for templates that trim, split, change case, delete words or serialize; not for one that
// reverses a text, or joins parts that it cut out of one. Immutable; safe from any thread.
#pragma once

#include <bitset>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace vivace {

// A piece of a prompt. `control`: exactly the text of one control token, written
// by the template. Otherwise plain text, to be tokenized without control tokens.
struct PromptPiece {
  std::string text;
  bool control = false;

  bool operator==(const PromptPiece&) const = default;
};

class ControlTexts {
 public:
  // The texts of a model's control tokens, in any order. Texts of less than two
  // characters are left out: they could not be broken, so they never are control.
  explicit ControlTexts(std::span<const std::string> texts);

  // How much of a text Break() guards at its two ends, where it could make up a
  // control text together with its neighbours.
  enum class Ends {
    kGuarded,
    // Except texts of [A-Za-z0-9_-] only: templates look such words up and compare
    // them, and they need a template that writes half a control text around them.
    kGuardedUnlessWord,
  };

  // `text` with `marker` inserted (a) after the first character of everything that
  // is a control text, ASCII case ignored, and (b) at an end where a control text
  // could reach out of `text`. Space around the text stays outside the markers, so
  // a template that trims still trims. Costs about one hash per '<' of the text.
  std::string Break(std::string_view text, std::string_view marker, Ends ends) const;

  // Cuts at the control texts, the longest first, and deletes the markers from the
  // rest. No piece is empty; no two plain pieces are neighbours.
  std::vector<PromptPiece> Split(std::string_view rendered, std::string_view marker) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  using Set = std::unordered_set<std::string, Hash, std::equal_to<>>;

  std::size_t LongestAt(const Set& set, std::string_view text, std::size_t at) const;
  bool HeadEndsOne(std::string_view folded, std::size_t over, std::size_t limit) const;
  bool TailStartsOne(std::string_view folded, std::size_t over, std::size_t limit) const;
  bool IsInsideOne(std::string_view folded) const;
  void GuardEnds(std::string_view folded, std::vector<std::size_t>& places) const;

  Set exact_;
  Set folded_;                        // in ASCII lower case
  std::vector<std::size_t> lengths_;  // in bytes, descending, each once
  std::size_t max_length_ = 0;
  std::bitset<std::size_t{1} << 16> starts_;  // first two bytes, folded or not
  std::bitset<256> last_bytes_;               // folded
};

}  // namespace vivace
