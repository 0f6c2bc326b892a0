// POST /api/create
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/endpoints.h"
#include "api/model_options.h"
#include "api/ollama_form.h"
#include "api/ollama_manage.h"
#include "api/progress_stream.h"
#include "chat/template_text.h"
#include "hub/resolve.h"
#include "hub/store.h"

namespace vivace {
namespace {

// What could only be ignored.
Answer<void> RefuseWhatIsMissing(Fields& fields) {
  for (const char* name : {"adapters", "files", "quantize"}) {
    if (!fields.IsEmpty(name)) return NotSupported(fmt::format("{}: not available", name));
  }
  return {};
}

Answer<std::vector<ModelfileMessage>> ReadMessages(Fields& fields) {
  std::vector<ModelfileMessage> result;
  const Json* messages = fields.Find("messages");
  if (messages == nullptr) return result;
  auto parsed = ParseMessages(*messages);
  if (!parsed) return Refusal(std::move(parsed).error());
  for (Message& message : *parsed) {
    if (message.role != "system" && message.role != "user" && message.role != "assistant") {
      return RefuseInput(
          fmt::format("messages: role \"{}\" is unknown, allowed is system, user, "
                      "assistant",
                      message.role.substr(0, 40)));
    }
    result.push_back({.role = std::move(message.role), .content = std::move(message.content)});
  }
  return result;
}

// From the text of a Modelfile, and the fields that newer clients send instead.
Answer<Modelfile> ReadModelfile(Fields& fields) {
  Modelfile modelfile;
  if (const std::string text = fields.Text("modelfile"); !text.empty()) {
    auto parsed = ParseModelfile(text);
    if (!parsed) return Refusal(Context(std::move(parsed).error(), "modelfile").value());
    modelfile = std::move(*parsed);
  }
  modelfile.from = fields.Text("from", std::move(modelfile.from));
  modelfile.chat_template = fields.Text("template", std::move(modelfile.chat_template));
  modelfile.system = fields.Text("system", std::move(modelfile.system));
  if (fields.Has("license")) modelfile.licenses = fields.Texts("license");
  std::erase(modelfile.licenses, "");
  if (const Json* parameters = fields.Object("parameters")) {
    auto texts = ParametersOf(*parameters);
    if (!texts) return Refusal(std::move(texts).error());
    modelfile.parameters = std::move(*texts);
  }
  auto messages = ReadMessages(fields);
  if (!messages) return Refusal(std::move(messages).error());
  if (!messages->empty()) modelfile.messages = std::move(*messages);
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  if (modelfile.from.empty()) return RefuseInput("from: needed, the name of a model");
  return modelfile;
}

Answer<void> Check(const Modelfile& modelfile) {
  if (!modelfile.adapter.empty()) return NotSupported("ADAPTER: adapters are not available");
  if (const auto options = OptionsOf(modelfile.parameters); !options) {
    return Refusal(options.error());
  }
  if (modelfile.chat_template.empty()) return {};
  auto source = TemplateSource(modelfile.chat_template);
  if (!source) return Refusal(Context(std::move(source).error(), "template").value());
  const auto compiled = ChatTemplate::Compile(std::move(*source), {});
  if (!compiled) return Refusal(Context(compiled.error(), "template").value());
  return {};
}

// What the model starts from may be derived itself: its settings are taken over.
void Inherit(const Modelfile& base, Modelfile& modelfile) {
  modelfile.from = base.from;
  ParameterTexts parameters;
  for (const auto& parameter : base.parameters) {
    const bool replaced = std::ranges::any_of(
        modelfile.parameters, [&](const auto& own) { return own.first == parameter.first; });
    if (!replaced) parameters.push_back(parameter);
  }
  parameters.insert(parameters.end(), modelfile.parameters.begin(), modelfile.parameters.end());
  modelfile.parameters = std::move(parameters);
  if (modelfile.chat_template.empty()) modelfile.chat_template = base.chat_template;
  if (modelfile.system.empty()) modelfile.system = base.system;
  if (modelfile.licenses.empty()) modelfile.licenses = base.licenses;
  if (modelfile.messages.empty()) modelfile.messages = base.messages;
}

void Write(ProgressStream& progress, const std::string& name, const Modelfile& modelfile) {
  progress.Status("writing manifest");
  const auto written = WriteDerived(name, modelfile);
  if (!written) return progress.Fail(written.error());
  progress.Succeed();
}

// The model to start from is fetched first.
Answer<void> CreateLater(Call& call, CatalogueEntry entry, std::string name, Modelfile modelfile,
                         bool stream) {
  modelfile.from = entry.full_name();
  const bool posted = call.service.downloads.Post(
      [entry = std::move(entry), name = std::move(name), modelfile = std::move(modelfile),
       writer = call.writer, stop = call.request.stop, stream] {
        ProgressStream progress(writer, stream);
        const auto pulled = Pull(entry, progress.Events(entry, stop));
        if (!pulled) return progress.Fail(pulled.error());
        Write(progress, name, modelfile);
      });
  if (!posted) return Refusal(ErrorOfStatus(503, "too many downloads wait, try again later"));
  return {};
}

Answer<void> Create(Call& call) {
  Fields fields(call.body);
  auto name = ReadModelName(fields);
  if (!name) return Refusal(std::move(name).error());
  if (const auto complete = RefuseWhatIsMissing(fields); !complete) return complete;
  const bool stream = fields.Bool("stream", true);
  auto modelfile = ReadModelfile(fields);
  if (!modelfile) return Refusal(std::move(modelfile).error());
  if (const auto checked = Check(*modelfile); !checked) return checked;
  if (const auto free = CheckNewName(call.service, *name); !free) return free;
  if (const auto key = call.service.models.KeyOf(modelfile->from)) {
    modelfile->from = *key;
  } else if (const auto base = FindDerived(modelfile->from)) {
    Inherit(base->modelfile, *modelfile);
  } else {
    auto entry = FetchableEntry(call.service, modelfile->from);
    if (!entry) return Refusal(std::move(entry).error());
    return CreateLater(call, std::move(*entry), std::move(*name), std::move(*modelfile), stream);
  }
  ProgressStream progress(call.writer, stream);
  Write(progress, *name, *modelfile);
  return {};
}

}  // namespace

void AddOllamaCreate(http::Router& router, Service& service) {
  router.Add("POST", "/api/create", JsonEndpoint(service, Create));
}

}  // namespace vivace
