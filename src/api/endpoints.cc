#include "api/endpoints.h"

namespace vivace {

http::Router MakeRouter(Service& service) {
  http::Router router;
  AddAdmin(router, service);
  AddCache(router, service);
  AddEmbeddings(router, service);
  AddOpenAiResponses(router, service);
  AddPrefill(router, service);
  AddHealth(router, service);
  AddModels(router, service);
  AddOpenAiChat(router, service);
  return router;
}

}  // namespace vivace
