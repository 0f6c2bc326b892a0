// GET /v1/models, /models
#include <set>
#include <utility>

#include "api/endpoint.h"
#include "api/endpoints.h"
#include "hub/store.h"

namespace vivace {
namespace {

std::int64_t Seconds(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

Json LoadedModelJson(ServedModel& model) {
  const Config& config = model.model().config();
  const ModelFacts& facts = model.facts();
  return {{"id", model.name()},
          {"object", "model"},
          {"created", Seconds(model.modified())},
          {"owned_by", "vivace"},
          {"status", {{"value", "loaded"}}},
          {"meta",
           {{"n_vocab", config.vocab_size},
            {"n_ctx", model.context()},
            {"n_ctx_train", config.context},
            {"n_embd", config.hidden},
            {"n_params", facts.parameters},
            {"size", model.file_bytes()},
            {"ftype", facts.quants.empty() ? "" : facts.quants.front().type}}}};
}

// Of a model that is not in memory: nothing but its name and how far its loading is.
Json OtherModelJson(const std::string& name, const std::map<std::string, double>& loading) {
  Json status = {{"value", "unloaded"}};
  if (const auto found = loading.find(name); found != loading.end()) {
    status = {{"value", "loading"}, {"progress", found->second}};
  }
  return {{"id", name},
          {"object", "model"},
          {"created", 0},
          {"owned_by", "vivace"},
          {"status", std::move(status)}};
}

// What is in memory, then what can be loaded.
Answer<void> ListModelsOf(Call& call) {
  Json data = Json::array();
  std::set<std::string> listed;
  const auto loading = call.service.models.Loading();
  for (const ModelPool::Loaded& loaded : call.service.models.List()) {
    listed.insert(loaded.model->name());
    data.push_back(LoadedModelJson(*loaded.model));
  }
  for (const LocalModel& local : ListModels()) {
    if (!listed.insert(local.name).second) continue;
    data.push_back(OtherModelJson(local.name, loading));
  }
  for (const DerivedModel& derived : ListDerived()) {
    data.push_back({{"id", derived.name},
                    {"object", "model"},
                    {"created", 0},
                    {"owned_by", "vivace"},
                    {"parent", derived.modelfile.from}});
  }
  (void)call.writer.Send(JsonResponse({{"object", "list"}, {"data", std::move(data)}}));
  return {};
}

Answer<void> OneModel(Call& call) {
  const std::string name(call.request.segments.Find("*").value_or(""));
  if (const ModelLease model = call.service.models.Peek(name)) {
    (void)call.writer.Send(JsonResponse(LoadedModelJson(*model)));
    return {};
  }
  auto found = call.service.models.options().find(name);
  if (!found) {
    auto derived = FindDerived(name);
    if (!derived) return Refusal(found.error());
    found = std::move(derived->name);
  }
  (void)call.writer.Send(JsonResponse(OtherModelJson(*found, call.service.models.Loading())));
  return {};
}

}  // namespace

void AddModels(http::Router& router, Service& service) {
  for (const char* path : {"/v1/models", "/models"}) {
    router.Add("GET", path, PlainEndpoint(service, ListModelsOf));
  }
  router.Add("GET", "/v1/models/*", PlainEndpoint(service, OneModel));
}

}  // namespace vivace
