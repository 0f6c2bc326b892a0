// GbnfScanner: the characters of a GBNF text, with their places.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "constrain/gbnf_ast.h"

namespace vivace {

class GbnfScanner {
 public:
  explicit GbnfScanner(std::string_view text) : text_(text) {}

  bool done() const { return at_ >= text_.size(); }
  // 0 at the end.
  char peek() const { return done() ? '\0' : text_[at_]; }
  GbnfPlace place() const { return place_; }
  // Where it stands, for a look back.
  std::size_t offset() const { return at_; }
  std::string_view Since(std::size_t offset) const { return text_.substr(offset, at_ - offset); }

  void Skip(std::size_t bytes);
  // Whether `word` stands here; it is skipped.
  bool Take(std::string_view word);
  // Spaces and comments, and line ends where these have no meaning.
  void SkipSpace(bool line_ends);
  // A name, empty where there is none.
  std::string_view Name();
  Result<std::uint32_t> Number();
  // One character of a literal or a class, escaped or not.
  Result<char32_t> Character();
  // What stands here, for messages.
  std::string Quoted() const;

 private:
  Result<char32_t> Escape();
  Result<char32_t> Hex(std::size_t digits);

  std::string_view text_;
  std::size_t at_ = 0;
  GbnfPlace place_;
};

}  // namespace vivace
