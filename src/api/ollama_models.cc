// GET /api/tags, /api/ps, /api/version, POST /api/show, HEAD /
#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "api/endpoints.h"
#include "api/ollama_form.h"

namespace vivace {
namespace {

// "134.5M", "1.5B"
std::string ParameterSize(std::uint64_t parameters) {
  const auto count = static_cast<double>(parameters);
  return count < 1e9 ? fmt::format("{:.1f}M", count / 1e6) : fmt::format("{:.1f}B", count / 1e9);
}

Json Details(const IndexedModel& model) {
  const ModelFacts& facts = *model.facts;
  return {{"parent_model", model.derived ? model.derived->modelfile.from : ""},
          {"format", "gguf"},
          {"family", facts.architecture},
          {"families", Json::array({facts.architecture})},
          {"parameter_size", ParameterSize(facts.parameters)},
          {"quantization_level", facts.quants.empty() ? "unknown" : facts.quants.front().type}};
}

Json Entry(const IndexedModel& model) {
  return {{"name", model.name},
          {"model", model.name},
          {"size", model.size},
          {"digest", model.sha256},
          {"details", Details(model)}};
}

Answer<void> Tags(Call& call) {
  Json models = Json::array();
  for (const IndexedModel& model : call.service.index.List(call.service.models)) {
    Json entry = Entry(model);
    entry["modified_at"] = model.modified;
    models.push_back(std::move(entry));
  }
  (void)call.writer.Send(JsonResponse({{"models", std::move(models)}}));
  return {};
}

Answer<void> Running(Call& call) {
  // What never goes is given a date that nobody waits for.
  constexpr auto kNever = std::chrono::hours(24 * 365 * 100);
  Json models = Json::array();
  for (const ModelPool::Loaded& loaded : call.service.models.List()) {
    const auto found = call.service.index.Find(call.service.models, loaded.model->name());
    if (!found) continue;
    Json entry = Entry(*found);
    const auto left = loaded.expires ? *loaded.expires - ModelPool::Clock::now() : kNever;
    entry["expires_at"] = Rfc3339(std::chrono::system_clock::now() +
                                  std::chrono::duration_cast<std::chrono::microseconds>(left));
    entry["size_vram"] = 0;
    entry["context_length"] = loaded.model->context();
    models.push_back(std::move(entry));
  }
  (void)call.writer.Send(JsonResponse({{"models", std::move(models)}}));
  return {};
}

Answer<void> Version(Call& call) {
  (void)call.writer.Send(JsonResponse({{"version", call.service.options.version}}));
  return {};
}

Json ModelInfo(const ModelFacts& facts) {
  Json info = {{"general.architecture", facts.architecture},
               {"general.parameter_count", facts.parameters}};
  const std::pair<const char*, const std::optional<std::uint64_t>&> numbers[] = {
      {"context_length", facts.context},     {"block_count", facts.layers},
      {"embedding_length", facts.hidden},    {"feed_forward_length", facts.ffn},
      {"attention.head_count", facts.heads}, {"attention.head_count_kv", facts.kv_heads}};
  for (const auto& [name, value] : numbers) {
    if (value) info[facts.architecture + "." + name] = *value;
  }
  info["tokenizer.ggml.model"] = facts.tokenizer;
  info["tokenizer.ggml.pre"] = facts.pre_tokenizer;
  return info;
}

Json Capabilities(const ModelFacts& facts) {
  const auto has = [&](const char* name) {
    return std::ranges::find(facts.capabilities, name) != facts.capabilities.end();
  };
  Json capabilities = Json::array({"completion"});
  if (has("tools")) capabilities.push_back("tools");
  if (has("infill")) capabilities.push_back("insert");
  return capabilities;
}

// A line for each parameter, texts in quotes.
std::string ParameterLines(const Modelfile& modelfile) {
  std::string lines;
  for (const auto& [name, value] : modelfile.parameters) {
    const bool is_text = name == "stop";
    lines += fmt::format("{}{:<30} {}", lines.empty() ? "" : "\n", name,
                         is_text ? Dump(Json(value)) : value);
  }
  return lines;
}

std::string LicenseOf(const Modelfile& modelfile, const ModelFacts& facts) {
  if (modelfile.licenses.empty()) return facts.license;
  std::string license;
  for (const std::string& one : modelfile.licenses) {
    license += (license.empty() ? "" : "\n") + one;
  }
  return license;
}

Answer<void> Show(Call& call) {
  Fields fields(call.body);
  const auto name = ReadModelName(fields);
  (void)fields.Bool("verbose", false);
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  if (!name) return Refusal(name.error());
  const auto model = call.service.index.Find(call.service.models, *name);
  if (!model) return Refusal(model.error());
  const ModelFacts& facts = *model->facts;
  Modelfile modelfile = {.from = model->name};
  if (model->derived) modelfile = model->derived->modelfile;
  Json body = {
      {"license", LicenseOf(modelfile, facts)},
      {"modelfile", WriteModelfile(modelfile)},
      {"parameters", ParameterLines(modelfile)},
      {"template", modelfile.chat_template.empty() ? facts.chat_template : modelfile.chat_template},
      {"system", modelfile.system},
      {"details", Details(*model)},
      {"model_info", ModelInfo(facts)},
      {"capabilities", Capabilities(facts)},
      {"modified_at", model->modified}};
  if (!modelfile.messages.empty()) {
    for (const ModelfileMessage& message : modelfile.messages) {
      body["messages"].push_back({{"role", message.role}, {"content", message.content}});
    }
  }
  (void)call.writer.Send(JsonResponse(body));
  return {};
}

}  // namespace

void AddOllamaModels(http::Router& router, Service& service) {
  router.Add("GET", "/api/tags", PlainEndpoint(service, Tags));
  router.Add("GET", "/api/ps", PlainEndpoint(service, Running));
  router.Add("GET", "/api/version", PlainEndpoint(service, Version));
  router.Add("POST", "/api/show", JsonEndpoint(service, Show));
}

}  // namespace vivace
