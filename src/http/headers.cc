#include "http/headers.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/trimmed.h"

namespace vivace::http {
std::string_view Trim(std::string_view text) { return Trimmed(text, " \t"); }

void Headers::Add(std::string name, std::string value) {
  fields_.push_back({std::move(name), std::move(value)});
}

void Headers::Set(std::string_view name, std::string value) {
  std::erase_if(fields_, [&](const Header& field) { return EqualsIgnoreCase(field.name, name); });
  fields_.push_back({std::string(name), std::move(value)});
}

std::string_view Headers::Get(std::string_view name) const {
  for (const Header& field : fields_) {
    if (EqualsIgnoreCase(field.name, name)) return field.value;
  }
  return {};
}

std::size_t Headers::Count(std::string_view name) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      fields_, [&](const Header& field) { return EqualsIgnoreCase(field.name, name); }));
}

bool Headers::HasToken(std::string_view name, std::string_view token) const {
  for (const Header& field : fields_) {
    if (!EqualsIgnoreCase(field.name, name)) continue;
    std::string_view rest = field.value;
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      if (EqualsIgnoreCase(Trim(rest.substr(0, comma)), token)) return true;
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return false;
}

}  // namespace vivace::http
