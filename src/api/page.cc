// GET / and the web page's files: sent from memory on the I/O thread. No key is needed.
#include "api/endpoints.h"
#include "http/response_writer.h"

namespace vivace {
namespace {

constexpr const char* kText = "text/plain; charset=utf-8";

// Browsers ask for HTML by name. Others look here whether there is a server at all.
http::Response Root(const Service& service, const http::Request& request) {
  const bool wants_page = request.headers.Get("Accept").find("text/html") != std::string::npos;
  http::Response response = {.content_type = kText, .body = "vivace is running\n"};
  if (wants_page && service.options.page != nullptr) {
    response = service.options.page->Answer("/index.html", request);
  } else if (wants_page) {
    response.status = 404;
    response.body = service.options.no_page + "\n";
  }
  response.headers.Add("Vary", "Accept");
  return response;
}

}  // namespace

void AddPage(http::Router& router, Service& service) {
  router.Add("GET", "/",
             [&service](const http::Request& request, const http::ResponseWriter& writer) {
               (void)writer.Send(Root(service, request));
             });
  if (service.options.page == nullptr) return;
  for (const std::string& path : service.options.page->paths()) {
    router.Add("GET", path,
               [&service](const http::Request& request, const http::ResponseWriter& writer) {
                 (void)writer.Send(service.options.page->Answer(request.path, request));
               });
  }
}

}  // namespace vivace
