#include "api/fields.h"

#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api/errors.h"

namespace vivace {
namespace {

// Doubles hold all integers up to here.
constexpr double kExact = 9007199254740992.0;

std::optional<std::int64_t> WholeNumber(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (!std::in_range<std::int64_t>(number)) return std::nullopt;
    return static_cast<std::int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const auto number = value.get<double>();
  if (!(std::fabs(number) <= kExact) || number != std::trunc(number)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

}  // namespace

std::string TextIn(const Json& object, std::string_view name) {
  if (!object.is_object()) return "";
  const auto found = object.find(name);
  return found == object.end() || !found->is_string() ? "" : found->get<std::string>();
}

Fields::Fields(const Json& object, std::string where) : object_(object), where_(std::move(where)) {}

const Json* Fields::Find(std::string_view name) const {
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

bool Fields::IsEmpty(std::string_view name) const {
  const Json* value = Find(name);
  if (value == nullptr) return true;
  return value->is_string() ? value->get_ref<const std::string&>().empty() : value->empty();
}

std::string Fields::Text(std::string_view name, std::string fallback) {
  const Json* value = Find(name);
  if (value == nullptr) return fallback;
  if (value->is_string()) return value->get<std::string>();
  RejectType(name, "a string", *value);
  return fallback;
}

bool Fields::Bool(std::string_view name, bool fallback) {
  const Json* value = Find(name);
  if (value == nullptr) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  RejectType(name, "true or false", *value);
  return fallback;
}

std::int64_t Fields::Integer(std::string_view name, std::int64_t fallback, std::int64_t least,
                             std::int64_t most) {
  const Json* value = Find(name);
  if (value == nullptr) return fallback;
  const auto number = WholeNumber(*value);
  if (!number) {
    RejectType(name, "a whole number", *value);
    return fallback;
  }
  if (*number >= least && *number <= most) return *number;
  Reject(name, fmt::format("{} is out of range, allowed is {} to {}", *number, least, most));
  return fallback;
}

double Fields::Number(std::string_view name, double fallback, double least, double most) {
  const Json* value = Find(name);
  if (value == nullptr) return fallback;
  if (!value->is_number()) {
    RejectType(name, "a number", *value);
    return fallback;
  }
  const auto number = value->get<double>();
  if (number >= least && number <= most) return number;
  Reject(name, fmt::format("{} is out of range, allowed is {} to {}", number, least, most));
  return fallback;
}

std::vector<std::string> Fields::Texts(std::string_view name) {
  const Json* value = Find(name);
  std::vector<std::string> texts;
  if (value == nullptr) return texts;
  const auto add = [&](const Json& text) {
    if (!text.is_string()) {
      RejectType(name, "a string or an array of strings", text);
    } else if (!text.get_ref<const std::string&>().empty()) {
      texts.push_back(text.get<std::string>());
    }
  };
  if (!value->is_array()) {
    add(*value);
  } else {
    for (const Json& text : *value) add(text);
  }
  return texts;
}

const Json* Fields::Object(std::string_view name) {
  const Json* value = Find(name);
  if (value == nullptr || value->is_object()) return value;
  RejectType(name, "an object", *value);
  return nullptr;
}

const Json* Fields::Array(std::string_view name) {
  const Json* value = Find(name);
  if (value == nullptr || value->is_array()) return value;
  RejectType(name, "an array", *value);
  return nullptr;
}

void Fields::Reject(std::string_view name, std::string_view problem) {
  if (error_.empty()) error_ = fmt::format("{}{}: {}", where_, name, problem);
}

void Fields::Reject(std::string message) {
  if (error_.empty()) error_ = std::move(message);
}

void Fields::RejectType(std::string_view name, std::string_view expected, const Json& value) {
  std::string shown = value.is_structured() ? "" : Dump(value).substr(0, 40);
  Reject(name, fmt::format("expected {}, got {}{}{}", expected, value.type_name(),
                           shown.empty() ? "" : " ", shown));
}

Result<void> Fields::status() const {
  if (error_.empty()) return {};
  return Fail(ErrorKind::kBadInput, error_);
}

}  // namespace vivace
