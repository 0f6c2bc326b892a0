// GET /slots: what runs right now. Answered on the I/O thread, so never behind work.
#include <utility>

#include "api/endpoints.h"
#include "api/errors.h"
#include "api/slot_board.h"

namespace vivace {
namespace {

Json SlotJson(const SlotBoard::View& slot, const EngineOptions& options) {
  Json json = {{"id", slot.id},
               {"n_ctx", options.context},
               {"speculative", options.speculation != Speculation::kOff},
               {"is_processing", slot.busy}};
  if (slot.task < 0) return json;
  const std::int64_t remaining = slot.max_tokens < 0 ? -1 : slot.max_tokens - slot.decoded_tokens;
  json["id_task"] = slot.task;
  json["n_prompt_tokens"] = slot.prompt_tokens;
  json["n_prompt_tokens_processed"] = slot.evaluated_tokens - slot.cached_tokens;
  json["n_prompt_tokens_cache"] = slot.cached_tokens;
  json["params"] = *slot.settings;
  json["next_token"] = Json::array({{{"has_next_token", slot.busy},
                                     {"has_new_line", slot.has_line_break},
                                     {"n_remain", remaining},
                                     {"n_decoded", slot.decoded_tokens}}});
  return json;
}

// Of the model that "?model=" names, else of the first.
http::Response Slots(Service& service, const http::Request& request) {
  const std::string name(request.query.Find("model").value_or(""));
  const ModelLease model = service.models.Peek(name);
  if (!model) {
    const bool known = name.empty() || name == "default";
    return ErrorResponse(Dialect::kOpenAi,
                         known ? ErrorOfStatus(503, "Loading model")
                               : ErrorOfStatus(404, "the model is unknown or not in memory"));
  }
  Json slots = Json::array();
  bool idle = false;
  for (const SlotBoard::View& slot : model->slots().List()) {
    idle = idle || !slot.busy;
    slots.push_back(SlotJson(slot, model->engine().options()));
  }
  const auto must_be_idle = request.query.Find("fail_on_no_slot");
  if (!idle && must_be_idle && !must_be_idle->empty() && *must_be_idle != "0") {
    return ErrorResponse(Dialect::kOpenAi, ErrorOfStatus(503, "no slot available"));
  }
  return JsonResponse(slots);
}

}  // namespace

void AddSlots(http::Router& router, Service& service) {
  router.Add("GET", "/slots",
             [&service](const http::Request& request, const http::ResponseWriter& writer) {
               (void)writer.Send(Slots(service, request));
             });
  router.Add("POST", "/slots/{id}", [](const http::Request&, const http::ResponseWriter& writer) {
    (void)writer.Send(ErrorResponse(
        Dialect::kOpenAi,
        ErrorOfStatus(501,
                      "slots cannot be saved, restored or erased: what was computed is found "
                      "again by its tokens, whichever slot a request takes")));
  });
}

}  // namespace vivace
