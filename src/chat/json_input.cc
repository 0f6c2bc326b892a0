#include "chat/json_input.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace vivace {
namespace {

// Builds the value while it checks the limits; returning false ends the parse.
template <class AnyJson>
class Builder : public nlohmann::json_sax<AnyJson> {
 public:
  explicit Builder(std::size_t max_keys) : max_keys_(max_keys) {}

  bool null() override { return Add(nullptr); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(std::int64_t value) override { return Add(value); }
  bool number_unsigned(std::uint64_t value) override { return Add(value); }
  bool number_float(double value, const std::string&) override { return Add(value); }
  bool string(std::string& value) override { return Add(std::move(value)); }
  bool binary(typename AnyJson::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return Open(AnyJson::object()); }
  bool start_array(std::size_t) override { return Open(AnyJson::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(std::string& name) override {
    AnyJson& object = *open_.back();
    slot_ = &object[name];
    if (object.size() <= max_keys_) return true;
    error_ = fmt::format("an object has more than {} keys", max_keys_);
    return false;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    error_ = fmt::format("not valid JSON at byte {}", position);
    return false;
  }

  AnyJson TakeRoot() { return std::move(root_); }
  std::string TakeError() { return std::move(error_); }

 private:
  // The place of the next value. Pointers into containers stay valid while these
  // are open: only the innermost one grows.
  AnyJson* Place() {
    if (open_.empty()) return &root_;
    if (open_.back()->is_object()) return slot_;
    open_.back()->push_back(nullptr);
    return &open_.back()->back();
  }

  bool Add(AnyJson value) {
    *Place() = std::move(value);
    return true;
  }

  bool Open(AnyJson container) {
    if (open_.size() >= static_cast<std::size_t>(kMaxJsonDepth)) {
      error_ = fmt::format("values nest deeper than {}", kMaxJsonDepth);
      return false;
    }
    AnyJson* place = Place();
    *place = std::move(container);
    open_.push_back(place);
    return true;
  }

  bool Close() {
    open_.pop_back();
    return true;
  }

  const std::size_t max_keys_;
  AnyJson root_;
  std::vector<AnyJson*> open_;
  AnyJson* slot_ = nullptr;  // where the value of the last key goes
  std::string error_;
};

template <class AnyJson>
Result<AnyJson> Parse(std::string_view text, std::size_t max_keys) {
  Builder<AnyJson> builder(max_keys);
  if (AnyJson::sax_parse(text, &builder)) return builder.TakeRoot();
  return Fail(ErrorKind::kBadInput, builder.TakeError());
}

}  // namespace

Result<Json> ParseJson(std::string_view text) { return Parse<Json>(text, kMaxJsonKeys); }

Result<SortedJson> ParseSortedJson(std::string_view text) {
  return Parse<SortedJson>(text, std::numeric_limits<std::size_t>::max());
}

bool NestsWithin(const Json& value, int depth) {
  if (!value.is_structured()) return true;
  if (depth <= 0) return false;
  for (const Json& item : value) {
    if (!NestsWithin(item, depth - 1)) return false;
  }
  return true;
}

}  // namespace vivace
