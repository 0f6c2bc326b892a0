// GET /health, /v1/health, /ready: answered on the I/O thread, so never behind work.
#include "api/endpoints.h"
#include "api/errors.h"
#include "http/response_writer.h"

namespace vivace {
namespace {

http::Response Health(Service& service) {
  if (service.models.ready()) return JsonResponse({{"status", "ok"}});
  return ErrorResponse(Dialect::kOpenAi, ErrorOfStatus(503, "Loading model"));
}

// Whether new requests should be sent here.
http::Response Ready(Service& service) {
  if (service.drain.requested()) {
    return ErrorResponse(Dialect::kOpenAi, ErrorOfStatus(503, "the server is draining"));
  }
  return Health(service);
}

}  // namespace

void AddHealth(http::Router& router, Service& service) {
  const auto health = [&service](const http::Request&, const http::ResponseWriter& writer) {
    (void)writer.Send(Health(service));
  };
  router.Add("GET", "/health", health);
  router.Add("GET", "/v1/health", health);
  router.Add("GET", "/ready", [&service](const http::Request&, const http::ResponseWriter& writer) {
    (void)writer.Send(Ready(service));
  });
}

}  // namespace vivace
