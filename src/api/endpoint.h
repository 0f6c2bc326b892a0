// Endpoints: how a handler of the HTTP server becomes a function over a parsed request.
//
// A Call is one request on its way through an endpoint, on a worker's thread. What the
// endpoint returns as a Refusal is sent in the shape of its dialect.
#pragma once

#include <functional>
#include <memory>

#include "api/errors.h"
#include "api/service.h"
#include "http/request.h"
#include "http/response_writer.h"
#include "http/router.h"
#include "hub/derived_model.h"

namespace vivace {

struct Call {
  Service& service;
  http::Request request;
  http::ResponseWriter writer;
  Json body;  // an object; empty for requests without a body
  Dialect dialect;
  // Of the request's model, once it is acquired: what it is derived by, if it is, and how
  // long loading it took.
  std::shared_ptr<const DerivedModel> derived = {};
  double load_ms = 0;
};

using Endpoint = std::function<Answer<void>(Call&)>;

// A handler for requests whose body is a JSON object, run by a worker. An endpoint that
// succeeds has sent its answer, or kept the writer to send it later.
http::Handler JsonEndpoint(Service& service, Endpoint endpoint);
// The same without a body to parse.
http::Handler PlainEndpoint(Service& service, Endpoint endpoint);

}  // namespace vivace
