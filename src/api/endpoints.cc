#include "api/endpoints.h"

namespace vivace {

http::Router MakeRouter(Service& service) {
  http::Router router;
  AddHealth(router, service);
  AddModels(router, service);
  AddOpenAiChat(router, service);
  return router;
}

}  // namespace vivace
