#include "api/endpoints.h"

namespace vivace {

http::Router MakeRouter(Service& service) {
  http::Router router;
  AddAdmin(router, service);
  AddAnthropic(router, service);
  AddApplyTemplate(router, service);
  AddCache(router, service);
  AddCompletion(router, service);
  AddEmbeddings(router, service);
  AddHealth(router, service);
  AddHistory(router, service);
  AddInfill(router, service);
  AddMetrics(router, service);
  AddModels(router, service);
  AddOllamaChat(router, service);
  AddOllamaCreate(router, service);
  AddOllamaGenerate(router, service);
  AddOllamaManage(router, service);
  AddOllamaModels(router, service);
  AddOpenAiChat(router, service);
  AddOpenAiCompletions(router, service);
  AddOpenAiResponses(router, service);
  AddPage(router, service);
  AddPrefill(router, service);
  AddProps(router, service);
  AddSchemaCheck(router, service);
  AddSlots(router, service);
  AddTokenize(router, service);
  return router;
}

}  // namespace vivace
