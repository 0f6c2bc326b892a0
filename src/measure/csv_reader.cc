#include "measure/csv_reader.h"

#include <algorithm>

namespace vivace {

bool CsvReader::TakeLineEnd() {
  if (text_.starts_with("\r\n")) {
    text_.remove_prefix(2);
  } else if (text_.starts_with('\n') || text_.starts_with('\r')) {
    text_.remove_prefix(1);
  } else {
    return false;
  }
  ++line_;
  return true;
}

Result<std::string> CsvReader::Quoted() {
  std::string cell;
  text_.remove_prefix(1);
  while (true) {
    const std::size_t quote = text_.find('"');
    if (quote == std::string_view::npos)
      return Fail(ErrorKind::kBadInput, "a quoted cell has no end");
    const std::string_view part = text_.substr(0, quote);
    line_ += static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
    cell += part;
    text_.remove_prefix(quote + 1);
    if (!text_.starts_with('"')) return cell;
    cell += '"';
    text_.remove_prefix(1);
  }
}

Result<std::vector<std::string>> CsvReader::Next() {
  while (TakeLineEnd()) {
  }
  row_line_ = line_;
  std::vector<std::string> row;
  while (!text_.empty()) {
    if (text_.starts_with('"')) {
      auto cell = Quoted();
      if (!cell) return Failure(std::move(cell).error());
      row.push_back(*std::move(cell));
    } else {
      const std::string_view cell = text_.substr(0, text_.find_first_of(",\r\n"));
      row.emplace_back(cell);
      text_.remove_prefix(cell.size());
    }
    if (text_.empty() || TakeLineEnd()) return row;
    if (!text_.starts_with(','))
      return Fail(ErrorKind::kBadInput, "text follows the closing quote of a cell");
    text_.remove_prefix(1);
    // A comma at the end of the text is followed by one more empty cell.
    if (text_.empty()) row.emplace_back();
  }
  return row;
}

}  // namespace vivace
