// PreSplit: cuts text into words before BPE, by the rules that the model was trained with.
//
// The rules are regular expressions in the models' files; here they are written out as
// scanners that look at each character about once. Invalid bytes count as one kOther
// character each. Immutable; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tokenizer/char_class.h"
#include "tokenizer/table_view.h"

namespace vivace {

class PreSplit {
 public:
  // `tables` must outlive this object.
  explicit PreSplit(const TableView& tables) : tables_(tables), pre_(tables.header().pre) {}

  // The end of the word that starts at `begin`, which must be below text.size(). The words of
  // a text are found one after the other, from 0.
  std::size_t WordEnd(std::string_view text, std::size_t begin) const;

 private:
  struct Char {
    CharClass kind;
    std::uint8_t length;
  };
  Char At(std::string_view text, std::size_t position) const;
  // The end of the run of `kind` from `position` on.
  std::size_t RunEnd(std::string_view text, std::size_t position, CharClass kind) const;
  std::size_t SpacesEnd(std::string_view text, std::size_t begin, bool newlines_end) const;
  std::size_t SpacesEndBeforeDigit(std::string_view text, std::size_t end) const;
  std::size_t NumberEnd(std::string_view text, std::size_t begin, int max_digits) const;
  std::size_t WordEndLikeGpt2(std::string_view text, std::size_t begin, bool digits_alone) const;
  std::size_t WordEndLikeGpt4(std::string_view text, std::size_t begin, int max_digits) const;

  const TableView& tables_;
  PreRules pre_;
};

}  // namespace vivace
