#include "api/errors.h"

#include <utility>

namespace vivace {
namespace {

int StatusOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kBadInput:
      return 400;
    case ErrorKind::kUnsupported:
      return 501;
    case ErrorKind::kNotFound:
      return 404;
    case ErrorKind::kExhausted:
    case ErrorKind::kCancelled:
      return 503;
    case ErrorKind::kIo:
      return 500;
  }
  return 500;
}

const char* TypeOf(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 501:
      return "not_supported_error";
    case 503:
      return "unavailable_error";
    default:
      return status >= 500 ? "server_error" : "invalid_request_error";
  }
}

const char* AnthropicType(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 503:
      return "overloaded_error";
    default:
      return status >= 500 && status != 501 ? "api_error" : "invalid_request_error";
  }
}

}  // namespace

ApiError::ApiError(Error error)
    : status(StatusOf(error.kind)), type(TypeOf(status)), message(std::move(error.message)) {}

ApiError ErrorOfStatus(int status, std::string message) {
  return {status, TypeOf(status), std::move(message)};
}

Refusal RefuseInput(std::string message) { return Refusal(ErrorOfStatus(400, std::move(message))); }

Refusal NotSupported(std::string message) {
  return Refusal(ErrorOfStatus(501, std::move(message)));
}

Dialect DialectOf(std::string_view path) {
  if (path.starts_with("/api/")) return Dialect::kOllama;
  if (path.starts_with("/v1/messages")) return Dialect::kAnthropic;
  return Dialect::kOpenAi;
}

Json ErrorJson(Dialect dialect, const ApiError& error) {
  switch (dialect) {
    case Dialect::kOllama:
      return {{"error", error.message}};
    case Dialect::kAnthropic:
      return {{"type", "error"},
              {"error", {{"type", AnthropicType(error.status)}, {"message", error.message}}}};
    case Dialect::kOpenAi:
      break;
  }
  Json body = {{"code", error.status}, {"message", error.message}, {"type", error.type}};
  body.update(error.more);
  return {{"error", std::move(body)}};
}

http::Response ErrorResponse(Dialect dialect, const ApiError& error) {
  http::Response response = {.status = error.status, .body = Dump(ErrorJson(dialect, error))};
  if (error.status == 503) response.headers.Set("Retry-After", "1");
  return response;
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

http::Response JsonResponse(const Json& json) { return {.body = Dump(json)}; }

}  // namespace vivace
