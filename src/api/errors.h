// Errors as clients get them: an HTTP status and a body in the shape of their dialect.
//
// The one place where an Error becomes a status. Stateless; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "chat/json_input.h"
#include "http/response.h"

namespace vivace {

struct ApiError {
  int status;
  std::string type;            // OpenAI's and llama.cpp's word for it
  std::string message;         // one line
  Json more = Json::object();  // further fields of the error object

  ApiError(int status_code, std::string error_type, std::string text)
      : status(status_code), type(std::move(error_type)), message(std::move(text)) {}
  ApiError(Error error);  // NOLINT(google-explicit-constructor): a Result's failure is an Answer's
};

// What the functions of this module return: a value, or what the client is told instead.
template <class T>
using Answer = tl::expected<T, ApiError>;
using Refusal = tl::unexpected<ApiError>;

inline Refusal Refuse(int status, std::string type, std::string message) {
  return Refusal(ApiError(status, std::move(type), std::move(message)));
}
Refusal RefuseInput(std::string message);   // 400
Refusal NotSupported(std::string message);  // 501

enum class Dialect : std::uint8_t {
  kOpenAi,     // {"error":{"code":400,"message":"...","type":"..."}}, llama.cpp's too
  kAnthropic,  // {"type":"error","error":{"type":"...","message":"..."}}
  kOllama,     // {"error":"..."}
};
Dialect DialectOf(std::string_view path);

Json ErrorJson(Dialect dialect, const ApiError& error);
http::Response ErrorResponse(Dialect dialect, const ApiError& error);
// Of an error that has no type yet, such as those of the HTTP module.
ApiError ErrorOfStatus(int status, std::string message);

// JSON as it goes to clients: on one line; bytes that are no UTF-8 become U+FFFD.
std::string Dump(const Json& json);
http::Response JsonResponse(const Json& json);

}  // namespace vivace
