// CsvReader: rows of comma-separated values (RFC 4180): quoted cells may hold commas, line
// ends and doubled quotes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace vivace {

class CsvReader {
 public:
  // `text` must outlive the reader.
  explicit CsvReader(std::string_view text) : text_(text) {}

  // The next row that is not blank; without cells at the end. kBadInput for a quote that is
  // never closed or that ends within a cell.
  Result<std::vector<std::string>> Next();

  // The line in which the last row began.
  std::size_t line() const { return row_line_; }

 private:
  Result<std::string> Quoted();
  bool TakeLineEnd();

  std::string_view text_;
  std::size_t line_ = 1;
  std::size_t row_line_ = 1;
};

}  // namespace vivace
