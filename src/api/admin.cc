// POST /admin/drain: the server takes no new connections and ends after what runs.
#include "api/endpoints.h"
#include "api/errors.h"
#include "http/response_writer.h"

namespace vivace {

void AddAdmin(http::Router& router, Service& service) {
  router.Add("POST", "/admin/drain",
             [&service](const http::Request&, const http::ResponseWriter& writer) {
               http::Response response = JsonResponse({{"status", "draining"}});
               response.status = 202;
               (void)writer.Send(std::move(response));
               service.drain.Request();
             });
}

}  // namespace vivace
