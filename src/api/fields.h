// Fields: reads the fields of a request's JSON object and remembers the first wrong one.
//
// Null counts as absent, as clients mean it. Readers return the fallback where a field is
// absent or wrong, so a parser reads all it knows and asks status() once at the end.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/json_input.h"

namespace vivace {

// The text under that name in an object; "" where there is none or it is no text.
std::string TextIn(const Json& object, std::string_view name);

class Fields {
 public:
  // `object` must be a JSON object and outlive this. `where` goes before the names in
  // messages: "options." for options.seed.
  explicit Fields(const Json& object, std::string where = "");

  // Null where absent.
  const Json* Find(std::string_view name) const;
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  // Whether a field is absent, or an empty text, array or object: what clients send that
  // mean nothing by it.
  bool IsEmpty(std::string_view name) const;

  std::string Text(std::string_view name, std::string fallback = "");
  bool Bool(std::string_view name, bool fallback);
  // Whole numbers, also written as 4.0. Outside the range they are wrong.
  std::int64_t Integer(std::string_view name, std::int64_t fallback,
                       std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                       std::int64_t most = std::numeric_limits<std::int64_t>::max());
  double Number(std::string_view name, double fallback,
                double least = std::numeric_limits<double>::lowest(),
                double most = std::numeric_limits<double>::max());
  // A string or an array of strings; empty strings are left out.
  std::vector<std::string> Texts(std::string_view name);
  // An object's fields, or null where absent.
  const Json* Object(std::string_view name);
  const Json* Array(std::string_view name);

  // Says that a field is wrong; the first message stays.
  void Reject(std::string_view name, std::string_view problem);
  // The same with a message that names the field itself, as a part's status() does.
  void Reject(std::string message);
  // kBadInput with the first wrong field.
  Result<void> status() const;

 private:
  void RejectType(std::string_view name, std::string_view expected, const Json& value);

  const Json& object_;
  std::string where_;
  std::string error_;
};

}  // namespace vivace
