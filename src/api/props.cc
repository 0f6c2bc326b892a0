// GET /props: what the server is and does by default. Answered on the I/O thread.
#include <utility>

#include "api/endpoints.h"
#include "api/errors.h"
#include "api/openai_form.h"
#include "api/settings_json.h"

namespace vivace {
namespace {

Json TemplateAbilities(const ModelFacts& facts, const std::string& source) {
  const bool tools = std::ranges::find(facts.capabilities, "tools") != facts.capabilities.end();
  return {{"supports_object_arguments", tools},
          {"supports_parallel_tool_calls", tools},
          {"supports_string_content", true},
          {"supports_system_role", source.find("system") != std::string::npos},
          {"supports_tool_calls", tools},
          {"supports_tools", tools},
          {"supports_typed_content", false}};
}

Json PropsJson(const Service& service, const ModelLease& model) {
  const ModelFacts& facts = model->facts();
  const Tokenizer& tokenizer = model->tokenizer();
  const std::string& source = model->chat().source();
  const auto text = [&](std::optional<TokenId> token) {
    return token ? TokenText(tokenizer, *token) : std::string();
  };
  Generation defaults = {.model = model, .request = {}};
  defaults.request.max_tokens = service.options.default_max_tokens;
  return {{"default_generation_settings",
           {{"params", BriefSettings(defaults)}, {"n_ctx", model->context()}}},
          {"total_slots", model->slots().size()},
          {"model_alias", model->name()},
          {"model_ftype", facts.quants.empty() ? "" : facts.quants.front().type},
          {"model_path", model->path()},
          {"modalities", {{"vision", false}, {"video", false}, {"audio", false}}},
          {"endpoint_slots", true},
          {"endpoint_props", false},
          {"endpoint_metrics", true},
          {"ui", service.options.page != nullptr},
          {"ui_settings", {{"history", service.options.history != nullptr}}},
          {"chat_template", source},
          {"chat_template_caps", TemplateAbilities(facts, source)},
          {"bos_token", text(tokenizer.bos())},
          {"eos_token", text(tokenizer.eos())},
          {"build_info", service.options.version.empty() ? std::string("vivace")
                                                         : "vivace " + service.options.version},
          {"is_sleeping", false}};
}

// Of the model that "?model=" names, else of the first.
http::Response Props(Service& service, const http::Request& request) {
  const std::string name(request.query.Find("model").value_or(""));
  if (const ModelLease model = service.models.Peek(name)) {
    return JsonResponse(PropsJson(service, model));
  }
  const bool known = name.empty() || name == "default";
  return ErrorResponse(Dialect::kOpenAi,
                       known ? ErrorOfStatus(503, "Loading model")
                             : ErrorOfStatus(404, "the model is unknown or not in memory"));
}

}  // namespace

void AddProps(http::Router& router, Service& service) {
  router.Add("GET", "/props",
             [&service](const http::Request& request, const http::ResponseWriter& writer) {
               (void)writer.Send(Props(service, request));
             });
  router.Add("POST", "/props", [](const http::Request&, const http::ResponseWriter& writer) {
    (void)writer.Send(ErrorResponse(
        Dialect::kOpenAi, ErrorOfStatus(501,
                                        "the server's settings cannot be changed by a request; "
                                        "restart it with other options")));
  });
}

}  // namespace vivace
