// GET and DELETE /v1/cache: what is cached of which conversation, and forgetting it.
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "api/endpoint.h"
#include "api/endpoints.h"

namespace vivace {
namespace {

// The parts of an answer that several engines give, sent with the last one.
class Gathering {
 public:
  Gathering(http::ResponseWriter writer, const char* name, std::size_t parts)
      : writer_(std::move(writer)), name_(name), open_(parts) {}

  void Add(Json part) {
    const std::lock_guard lock(mutex_);
    parts_.push_back(std::move(part));
    if (--open_ == 0) (void)writer_.Send(JsonResponse({{name_, std::move(parts_)}}));
  }

 private:
  http::ResponseWriter writer_;
  const char* name_;
  std::mutex mutex_;
  std::size_t open_;
  Json parts_ = Json::array();
};

Json ReportJson(const ServedModel& model, const Engine::CacheReport& report) {
  Json conversations = Json::array();
  for (const PrefixCache::Conversation& conversation : report.conversations) {
    conversations.push_back({{"cache_id", conversation.label},
                             {"tokens", conversation.tokens},
                             {"pages", conversation.pages},
                             {"bytes", conversation.pages * report.page_bytes},
                             {"idle_ms", conversation.left_ms}});
  }
  return {{"model", model.name()},
          {"page_tokens", report.page_tokens},
          {"page_bytes", report.page_bytes},
          {"pages", report.pages},
          {"pages_in_use", report.pages_in_use},
          {"pages_cached", report.pages_cached},
          {"cached_tokens", report.pages_cached * report.page_tokens},
          {"cached_bytes", report.pages_cached * report.page_bytes},
          {"disk_tokens", report.disk_pages * report.page_tokens},
          {"disk_bytes", report.disk_bytes},
          {"conversations", std::move(conversations)}};
}

// Those in memory, or the one that "model" names.
Answer<std::vector<ModelLease>> ModelsOf(Call& call) {
  std::vector<ModelLease> models;
  if (const auto name = call.request.query.Find("model")) {
    const ModelLease model = call.service.models.Peek(std::string(*name));
    if (!model) return Refusal(ErrorOfStatus(404, "model: not in memory"));
    models.push_back(model);
    return models;
  }
  for (const ModelPool::Loaded& loaded : call.service.models.List()) {
    models.push_back(loaded.model);
  }
  return models;
}

Answer<void> Report(Call& call) {
  const auto models = ModelsOf(call);
  if (!models) return Refusal(models.error());
  const auto gathering = std::make_shared<Gathering>(call.writer, "models", models->size());
  for (const ModelLease& model : *models) {
    model->engine().ReportCache([model, gathering](const Engine::CacheReport& report) {
      gathering->Add(ReportJson(*model, report));
    });
  }
  return {};
}

// ?cache_id=NAME forgets one conversation, else all go that no running request uses.
Answer<void> Clear(Call& call) {
  const auto models = ModelsOf(call);
  if (!models) return Refusal(models.error());
  const std::string cache_id(call.request.query.Find("cache_id").value_or(""));
  const auto gathering = std::make_shared<Gathering>(call.writer, "models", models->size());
  for (const ModelLease& model : *models) {
    model->engine().ClearCache(cache_id, [model, gathering](std::int64_t pages) {
      gathering->Add({{"model", model->name()}, {"pages_freed", pages}});
    });
  }
  return {};
}

}  // namespace

void AddCache(http::Router& router, Service& service) {
  router.Add("GET", "/v1/cache", PlainEndpoint(service, Report));
  router.Add("DELETE", "/v1/cache", PlainEndpoint(service, Clear));
}

}  // namespace vivace
