// POST /api/pull, /api/push, /api/copy, DELETE /api/delete, HEAD and POST /api/blobs/{digest}
#include "api/ollama_manage.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "api/endpoints.h"
#include "api/ollama_form.h"
#include "api/progress_stream.h"
#include "hub/resolve.h"
#include "hub/store.h"

namespace vivace {
namespace {

Answer<void> PullModel(Call& call) {
  Fields fields(call.body);
  auto name = ReadModelName(fields);
  if (!name) return Refusal(std::move(name).error());
  (void)fields.Bool("insecure", false);
  const bool stream = fields.Bool("stream", true);
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  if (call.service.models.KeyOf(*name) || FindDerived(*name)) {
    ProgressStream(call.writer, stream).Succeed();
    return {};
  }
  auto entry = FetchableEntry(call.service, *name);
  if (!entry) return Refusal(std::move(entry).error());
  const bool posted = call.service.downloads.Post(
      [entry = std::move(*entry), writer = call.writer, stop = call.request.stop, stream] {
        ProgressStream progress(writer, stream);
        progress.Status("pulling manifest");
        const auto pulled = Pull(entry, progress.Events(entry, stop));
        if (!pulled) return progress.Fail(pulled.error());
        progress.Succeed();
      });
  if (!posted) return Refusal(ErrorOfStatus(503, "too many downloads wait, try again later"));
  return {};
}

Answer<void> Copy(Call& call) {
  Fields fields(call.body);
  const std::string source = fields.Text("source");
  const std::string destination = fields.Text("destination");
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  auto model = call.service.index.Find(call.service.models, source);
  if (!model || source.empty()) {
    return Refusal(ErrorOfStatus(404, fmt::format("model '{}' not found", source.substr(0, 100))));
  }
  if (const auto free = CheckNewName(call.service, destination); !free) return free;
  Modelfile modelfile = {.from = model->key};
  if (model->derived) modelfile = std::move(model->derived->modelfile);
  if (const auto written = WriteDerived(destination, modelfile); !written) {
    return Refusal(written.error());
  }
  (void)call.writer.Send({.body = ""});
  return {};
}

// The derived model of this name, or the file of one that is not what the server is for.
Answer<void> Delete(Call& call) {
  Fields fields(call.body);
  const auto name = ReadModelName(fields);
  if (!name) return Refusal(name.error());
  ModelPool& models = call.service.models;
  const auto model = call.service.index.Find(models, *name);
  if (!model) return Refusal(model.error());
  if (model->derived) {
    if (const auto removed = RemoveDerived(*name); !removed) return Refusal(removed.error());
    (void)call.writer.Send({.body = ""});
    return {};
  }
  if (models.IsPinned(model->key)) {
    return RefuseInput(fmt::format("{} is what this server was started with", model->name));
  }
  if (const ModelLease loaded = models.Peek(model->key)) {
    models.SetKeepAlive(*loaded, std::chrono::milliseconds(0));
  }
  const std::string file = model->path.substr(model->path.rfind('/') + 1);
  if (ModelPath(file) != model->path) {
    return RefuseInput(model->name + " is not in the models folder");
  }
  if (const auto removed = RemoveModel(file); !removed) return Refusal(removed.error());
  (void)call.writer.Send({.body = ""});
  return {};
}

Answer<void> Push(Call& /*call*/) { return NotSupported("models cannot be pushed from here"); }

Answer<void> PutBlob(Call& /*call*/) {
  return NotSupported("files cannot be uploaded: put a .gguf file into the models folder");
}

}  // namespace

Answer<void> CheckNewName(Service& service, const std::string& name) {
  if (const auto plain = DerivedName(name); !plain) return Refusal(plain.error());
  if (!service.models.KeyOf(name) && !EntryOf(name)) return {};
  return RefuseInput(
      fmt::format("\"{}\" is the name of another model, which cannot be replaced", name));
}

Answer<CatalogueEntry> FetchableEntry(Service& service, std::string name) {
  constexpr std::string_view kLatest = ":latest";
  if (name.ends_with(kLatest)) name.resize(name.size() - kLatest.size());
  auto entry = EntryOf(name);
  if (!entry) return Refusal(std::move(entry).error());
  if (!service.options.allow_downloads) {
    return Refusal(ErrorOfStatus(403, "this server fetches no models"));
  }
  return std::move(*entry);
}

void AddOllamaManage(http::Router& router, Service& service) {
  router.Add("POST", "/api/pull", JsonEndpoint(service, PullModel));
  router.Add("POST", "/api/copy", JsonEndpoint(service, Copy));
  router.Add("DELETE", "/api/delete", JsonEndpoint(service, Delete));
  router.Add("POST", "/api/push", PlainEndpoint(service, Push));
  router.Add("POST", "/api/blobs/{digest}", PlainEndpoint(service, PutBlob));
  // None is ever there.
  router.Add("HEAD", "/api/blobs/{digest}",
             [](const http::Request&, const http::ResponseWriter& writer) {
               (void)writer.Send(ErrorResponse(Dialect::kOllama, ErrorOfStatus(404, "no blob")));
             });
}

}  // namespace vivace
