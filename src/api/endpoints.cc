#include "api/endpoints.h"

namespace vivace {

http::Router MakeRouter(Service& service) {
  http::Router router;
  AddAnthropic(router, service);
  AddHealth(router, service);
  AddModels(router, service);
  AddOllamaChat(router, service);
  AddOllamaCreate(router, service);
  AddOllamaGenerate(router, service);
  AddOllamaManage(router, service);
  AddOllamaModels(router, service);
  AddOpenAiChat(router, service);
  return router;
}

}  // namespace vivace
