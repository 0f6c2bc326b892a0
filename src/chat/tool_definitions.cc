#include "chat/tool_definitions.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>

namespace vivace {
namespace {

const Json& Function(const Json& tool) { return tool.at("function"); }

// Null where it is absent.
const Json* Find(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

Failure WrongType(std::string_view expected, const Json& value) {
  return Fail(ErrorKind::kBadInput,
              fmt::format("expected {}, got {}", expected, value.type_name()));
}

Result<std::string> ParseName(const Json& tool) {
  if (!tool.is_object()) return WrongType("an object", tool);
  if (!NestsWithin(tool)) {
    return Fail(ErrorKind::kBadInput, fmt::format("nests deeper than {}", kMaxJsonDepth));
  }
  const Json* type = Find(tool, "type");
  if (type != nullptr && *type != "function") {
    return Fail(ErrorKind::kBadInput, "type: only \"function\" is available");
  }
  const Json* function = Find(tool, "function");
  if (function == nullptr || !function->is_object()) {
    return Fail(ErrorKind::kBadInput, "needs a \"function\" object");
  }
  const Json* name = Find(*function, "name");
  if (name != nullptr && !name->is_string()) {
    return Context(WrongType("a string", *name).value(), "function.name");
  }
  if (name == nullptr || name->get_ref<const std::string&>().empty()) {
    return Fail(ErrorKind::kBadInput, "function: needs a \"name\"");
  }
  if (name->get_ref<const std::string&>().size() > kMaxToolName) {
    return Fail(ErrorKind::kBadInput,
                fmt::format("function.name: longer than {} bytes", kMaxToolName));
  }
  return name->get<std::string>();
}

Result<void> CheckRequired(const Json& required) {
  if (!required.is_array()) return WrongType("an array of names", required);
  for (const Json& name : required) {
    if (!name.is_string()) return WrongType("an array of names", name);
  }
  return {};
}

// What every schema of arguments must be. Whether it can be followed is another question.
Result<void> CheckSchema(const Json& schema) {
  if (!schema.is_object()) return WrongType("a schema, that is an object", schema);
  const Json* type = Find(schema, "type");
  if (type != nullptr && type->is_string() && *type != "object") {
    return Fail(ErrorKind::kBadInput,
                fmt::format("type: arguments are always of type \"object\", got \"{}\"",
                            type->get_ref<const std::string&>().substr(0, 40)));
  }
  const Json* properties = Find(schema, "properties");
  if (properties != nullptr && !properties->is_object()) {
    return Context(WrongType("an object", *properties).value(), "properties");
  }
  const Json* required = Find(schema, "required");
  if (required == nullptr) return {};
  const auto checked = CheckRequired(*required);
  if (!checked) return Context(checked.error(), "required");
  return {};
}

Result<void> CheckFunction(const Json& function) {
  const Json* description = Find(function, "description");
  if (description != nullptr && !description->is_string()) {
    return Context(WrongType("a string", *description).value(), "description");
  }
  const Json* schema = Find(function, "parameters");
  if (schema == nullptr) return {};
  const auto checked = CheckSchema(*schema);
  if (!checked) return Context(checked.error(), "parameters");
  return {};
}

// Whether "properties" are all that there is. Small models make up others where they may.
bool IsClosed(const Json& schema) {
  for (const char* other : {"additionalProperties", "patternProperties", "unevaluatedProperties",
                            "allOf", "anyOf", "oneOf", "$ref", "if"}) {
    if (Find(schema, other) != nullptr) return false;
  }
  const Json* properties = Find(schema, "properties");
  if (properties == nullptr) return false;
  const Json* required = Find(schema, "required");
  return required == nullptr || std::ranges::all_of(*required, [&](const Json& name) {
           return properties->contains(name.get_ref<const std::string&>());
         });
}

}  // namespace

Result<Json> ParseTools(const Json& tools) {
  if (tools.is_null() || (tools.is_array() && tools.empty())) return Json();
  if (!tools.is_array()) return Context(WrongType("an array", tools).value(), "tools");
  if (tools.size() > kMaxTools) {
    return Fail(ErrorKind::kBadInput,
                fmt::format("tools: {} of them, allowed is up to {}", tools.size(), kMaxTools));
  }
  std::unordered_set<std::string> names;
  for (std::size_t i = 0; i < tools.size(); ++i) {
    const auto name = ParseName(tools[i]);
    if (!name) return Context(name.error(), fmt::format("tools[{}]", i));
    const std::string where = fmt::format("tools[{}] \"{}\"", i, *name);
    if (!names.insert(*name).second) {
      return Fail(ErrorKind::kBadInput, where + ": another tool has this name already");
    }
    const auto checked = CheckFunction(Function(tools[i]));
    if (!checked) return Context(checked.error(), where);
  }
  return tools;
}

std::vector<std::string> ToolNames(const Json& tools) {
  std::vector<std::string> names;
  for (const Json& tool : tools) names.push_back(Function(tool).at("name").get<std::string>());
  return names;
}

Json ToolSchema(const Json& tool) {
  const Json* given = Find(Function(tool), "parameters");
  if (given == nullptr) {
    return {{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
  }
  Json schema = *given;
  if (Find(schema, "type") == nullptr) schema["type"] = "object";
  if (IsClosed(schema)) schema["additionalProperties"] = false;
  return schema;
}

}  // namespace vivace
