#include "chat/json_input.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace vivace {
namespace {

// Builds the value while it checks the limits; returning false ends the parse.
class Builder : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return Add(nullptr); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(std::int64_t value) override { return Add(value); }
  bool number_unsigned(std::uint64_t value) override { return Add(value); }
  bool number_float(double value, const std::string&) override { return Add(value); }
  bool string(std::string& value) override { return Add(std::move(value)); }
  bool binary(Json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return Open(Json::object()); }
  bool start_array(std::size_t) override { return Open(Json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(std::string& name) override {
    Json& object = *open_.back();
    slot_ = &object[name];
    if (object.size() <= kMaxJsonKeys) return true;
    error_ = fmt::format("an object has more than {} keys", kMaxJsonKeys);
    return false;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    error_ = fmt::format("not valid JSON at byte {}", position);
    return false;
  }

  Json TakeRoot() { return std::move(root_); }
  std::string TakeError() { return std::move(error_); }

 private:
  // The place of the next value. Pointers into containers stay valid while these
  // are open: only the innermost one grows.
  Json* Place() {
    if (open_.empty()) return &root_;
    if (open_.back()->is_object()) return slot_;
    open_.back()->push_back(nullptr);
    return &open_.back()->back();
  }

  bool Add(Json value) {
    *Place() = std::move(value);
    return true;
  }

  bool Open(Json container) {
    if (open_.size() >= static_cast<std::size_t>(kMaxJsonDepth)) {
      error_ = fmt::format("values nest deeper than {}", kMaxJsonDepth);
      return false;
    }
    Json* place = Place();
    *place = std::move(container);
    open_.push_back(place);
    return true;
  }

  bool Close() {
    open_.pop_back();
    return true;
  }

  Json root_;
  std::vector<Json*> open_;
  Json* slot_ = nullptr;  // where the value of the last key goes
  std::string error_;
};

}  // namespace

Result<Json> ParseJson(std::string_view text) {
  Builder builder;
  if (Json::sax_parse(text, &builder)) return builder.TakeRoot();
  return Fail(ErrorKind::kBadInput, builder.TakeError());
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
