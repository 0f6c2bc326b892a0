#include "api/model_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "api/errors.h"
#include "api/sampling_fields.h"

namespace vivace {
namespace {

enum class Type : std::uint8_t { kInteger, kNumber, kBool, kTexts };

struct Option {
  std::string_view name;
  Type type;
};

constexpr Option kOptions[] = {
    {"num_ctx", Type::kInteger},
    {"num_predict", Type::kInteger},
    {"num_keep", Type::kInteger},
    {"seed", Type::kInteger},
    {"temperature", Type::kNumber},
    {"top_k", Type::kInteger},
    {"top_p", Type::kNumber},
    {"min_p", Type::kNumber},
    {"typical_p", Type::kNumber},
    {"tfs_z", Type::kNumber},
    {"repeat_last_n", Type::kInteger},
    {"repeat_penalty", Type::kNumber},
    {"presence_penalty", Type::kNumber},
    {"frequency_penalty", Type::kNumber},
    {"mirostat", Type::kInteger},
    {"mirostat_tau", Type::kNumber},
    {"mirostat_eta", Type::kNumber},
    {"penalize_newline", Type::kBool},
    {"stop", Type::kTexts},
    // How a server works; no answer depends on them here.
    {"numa", Type::kBool},
    {"num_batch", Type::kInteger},
    {"num_gpu", Type::kInteger},
    {"main_gpu", Type::kInteger},
    {"num_thread", Type::kInteger},
    {"low_vram", Type::kBool},
    {"f16_kv", Type::kBool},
    {"logits_all", Type::kBool},
    {"vocab_only", Type::kBool},
    {"use_mmap", Type::kBool},
    {"use_mlock", Type::kBool},
    {"embedding_only", Type::kBool},
};

const Option* FindOption(std::string_view name) {
  const auto* found = std::ranges::find(kOptions, name, &Option::name);
  return found == std::end(kOptions) ? nullptr : found;
}

std::optional<Json> ValueOf(Type type, const std::string& text) {
  const char* end = text.data() + text.size();
  if (type == Type::kTexts) return Json(text);
  if (type == Type::kBool) {
    if (text == "true") return Json(true);
    if (text == "false") return Json(false);
    return std::nullopt;
  }
  double number = 0;
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stopped != end) return std::nullopt;
  if (type == Type::kNumber) return Json(number);
  // Doubles hold all integers up to here.
  constexpr double kExact = 9007199254740992.0;
  if (!(std::fabs(number) <= kExact) || number != std::trunc(number)) return std::nullopt;
  return Json(static_cast<std::int64_t>(number));
}

const char* NameOf(Type type) {
  switch (type) {
    case Type::kInteger:
      return "a whole number";
    case Type::kNumber:
      return "a number";
    case Type::kBool:
      return "true or false";
    case Type::kTexts:
      return "a text";
  }
  return "";
}

Failure UnknownParameter(std::string_view name) {
  std::string names;
  for (const Option& option : kOptions) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", option.name);
  }
  return Fail(ErrorKind::kBadInput,
              fmt::format("parameter \"{}\" is unknown, allowed is {}", name.substr(0, 40), names));
}

}  // namespace

void CheckOptions(Fields& options) {
  for (const Option& option : kOptions) {
    switch (option.type) {
      case Type::kInteger:
        (void)options.Integer(option.name, 0);
        break;
      case Type::kNumber:
        (void)options.Number(option.name, 0);
        break;
      case Type::kBool:
        (void)options.Bool(option.name, false);
        break;
      case Type::kTexts:
        (void)options.Texts(option.name);
        break;
    }
  }
}

Result<Json> OptionsOf(const ParameterTexts& parameters) {
  Json options = Json::object();
  for (const auto& [name, text] : parameters) {
    const Option* option = FindOption(name);
    if (option == nullptr) return UnknownParameter(name);
    auto value = ValueOf(option->type, text);
    if (!value) {
      return Fail(ErrorKind::kBadInput, fmt::format("parameter {}: expected {}, got \"{}\"", name,
                                                    NameOf(option->type), text.substr(0, 40)));
    }
    if (option->type == Type::kTexts) {
      options[name].push_back(std::move(*value));
    } else {
      options[name] = std::move(*value);
    }
  }
  return options;
}

Result<ParameterTexts> ParametersOf(const Json& options) {
  Fields fields(options, "parameters.");
  CheckOptions(fields);
  VIVACE_RETURN_IF_ERROR(fields.status());
  ParameterTexts parameters;
  for (const auto& [name, value] : options.items()) {
    if (value.is_null()) continue;
    if (FindOption(name) == nullptr) return UnknownParameter(name);
    if (value.is_array()) {
      for (const Json& text : value) parameters.emplace_back(name, text.get<std::string>());
    } else {
      parameters.emplace_back(name, value.is_string() ? value.get<std::string>() : Dump(value));
    }
  }
  const auto checked = OptionsOf(parameters);
  if (!checked) return Failure(checked.error());
  return parameters;
}

}  // namespace vivace
