#include "api/model_defaults.h"

#include <algorithm>
#include <utility>

#include "api/model_options.h"

namespace vivace {
namespace {

bool Has(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && !found->is_null();
}

void PutIfAbsent(Json& object, const std::string& name, const Json& value) {
  if (!Has(object, name.c_str())) object[name] = value;
}

// Options as fields of the body itself.
void PutOptions(const Json& options, Dialect dialect, Json& body) {
  for (const auto& [name, value] : options.items()) {
    if (name == "num_predict") {
      const bool named =
          Has(body, "n_predict") || Has(body, "max_tokens") || Has(body, "max_completion_tokens");
      if (!named) body["max_tokens"] = std::max<std::int64_t>(value.get<std::int64_t>(), -1);
    } else if (name == "stop" && dialect == Dialect::kAnthropic) {
      PutIfAbsent(body, "stop_sequences", value);
    } else {
      PutIfAbsent(body, name, value);
    }
  }
}

bool IsSystem(const Json& message) {
  const auto role = message.is_object() ? message.find("role") : message.end();
  return message.is_object() && role != message.end() && *role == "system";
}

// The system prompt, unless the conversation brings one, then the first messages, then it.
void PutMessages(const Modelfile& modelfile, bool system_is_a_message, Json& body) {
  const auto found = body.find("messages");
  if (found == body.end() || !found->is_array() || found->empty()) return;
  Json messages = Json::array();
  std::size_t taken = 0;
  if (IsSystem(found->front())) {
    messages.push_back(std::move((*found)[taken++]));
  } else if (system_is_a_message && !modelfile.system.empty()) {
    messages.push_back({{"role", "system"}, {"content", modelfile.system}});
  }
  for (const ModelfileMessage& message : modelfile.messages) {
    messages.push_back({{"role", message.role}, {"content", message.content}});
  }
  while (taken < found->size()) messages.push_back(std::move((*found)[taken++]));
  *found = std::move(messages);
}

}  // namespace

std::optional<DerivedModel> FindDerivedFor(const ModelPool& pool, const std::string& name) {
  if (pool.KeyOf(name)) return std::nullopt;
  auto derived = FindDerived(name);
  if (!derived) return std::nullopt;
  return std::move(*derived);
}

Result<void> ApplyDefaults(const DerivedModel& derived, Dialect dialect, Json& body) {
  const auto options = OptionsOf(derived.modelfile.parameters);
  if (!options) return Context(options.error(), derived.name);
  if (dialect == Dialect::kOllama) {
    Json& own = body["options"];
    if (own.is_null()) own = Json::object();
    if (own.is_object()) {
      for (const auto& [name, value] : options->items()) PutIfAbsent(own, name, value);
    }
  } else {
    PutOptions(*options, dialect, body);
  }
  // Where the dialect has a field for the system prompt, it goes there. Ollama has one in
  // its prompts and none in its conversations.
  const bool own_field = dialect == Dialect::kAnthropic || !Has(body, "messages");
  if (own_field && !derived.modelfile.system.empty()) {
    PutIfAbsent(body, "system", derived.modelfile.system);
  }
  PutMessages(derived.modelfile, dialect != Dialect::kAnthropic, body);
  return {};
}

}  // namespace vivace
