#include "api/endpoint.h"

#include <utility>

namespace vivace {
namespace {

Answer<Json> ParseBody(const std::string& text) {
  auto body = ParseJson(text);
  if (!body) return Refusal(std::move(body).error());
  if (!body->is_object()) {
    return RefuseInput(std::string("the body must be a JSON object, got ") + body->type_name());
  }
  return std::move(*body);
}

http::Handler OnWorker(Service& service, Endpoint endpoint, bool has_body) {
  return [&service, endpoint = std::move(endpoint), has_body](http::Request request,
                                                              http::ResponseWriter writer) {
    const Dialect dialect = DialectOf(request.path);
    // A job must be copyable, and a call is not.
    auto call = std::make_shared<Call>(Call{.service = service,
                                            .request = std::move(request),
                                            .writer = std::move(writer),
                                            .body = Json::object(),
                                            .dialect = dialect});
    const bool posted = service.workers.Post([call, endpoint, has_body] {
      if (call->request.stop.stop_requested()) return;  // the client has left
      if (has_body) {
        auto body = ParseBody(call->request.body);
        if (!body) {
          (void)call->writer.Send(ErrorResponse(call->dialect, body.error()));
          return;
        }
        call->request.body = {};
        call->body = std::move(*body);
      }
      const auto done = endpoint(*call);
      if (!done) (void)call->writer.Send(ErrorResponse(call->dialect, done.error()));
    });
    if (!posted) {
      (void)call->writer.Send(ErrorResponse(
          dialect, ErrorOfStatus(503, "too many requests wait to be read, try again")));
    }
  };
}

}  // namespace

http::Handler JsonEndpoint(Service& service, Endpoint endpoint) {
  return OnWorker(service, std::move(endpoint), true);
}

http::Handler PlainEndpoint(Service& service, Endpoint endpoint) {
  return OnWorker(service, std::move(endpoint), false);
}

}  // namespace vivace
