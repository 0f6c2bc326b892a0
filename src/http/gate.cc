#include "http/gate.h"

#include <utility>

namespace vivace::http {

Gate::Gate(const ServerOptions& options, const Router& router)
    : options_(options),
      router_(router),
      keys_(options.api_keys, options.public_paths),
      origins_(options.allowed_origins, options.allowed_hosts, !options.api_keys.empty()) {}

Response Gate::ErrorFor(const RequestHead& head, int status, std::string_view message) const {
  const ErrorFacts facts{
      .status = status, .message = message, .method = head.method, .path = head.target.path};
  Response error = options_.error_body ? options_.error_body(facts) : PlainError(status, message);
  error.status = status;
  return error;
}

// Never asks for a key: a browser's preflight cannot carry one.
Response Gate::AnswerOptions(const RequestHead& head) const {
  Router::Match match = router_.Find(head.method, head.target);
  if (match.methods.empty() && head.target.path != "*")
    return ErrorFor(head, 404, "there is nothing at this path");
  const std::string methods =
      match.methods.empty() ? "GET, HEAD, OPTIONS, POST" : Router::Allow(std::move(match.methods));
  Response answer{.status = 204, .content_type = "", .body = ""};
  answer.headers.Add("Allow", methods);
  if (!head.headers.Has("Origin")) return answer;
  for (const Header& field : origins_.PreflightHeaders(head.headers, methods))
    answer.headers.Add(field.name, field.value);
  return answer;
}

Gate::Admission Gate::Admit(const RequestHead& head, const std::optional<ParseFault>& fault,
                            bool loopback) const {
  Admission admission;
  if (const auto why = origins_.Refuse(head.headers, loopback)) {
    admission.answer = ErrorFor(head, 403, *why);
    return admission;
  }
  admission.headers = origins_.AnswerHeaders(head.headers);
  if (fault) {
    admission.answer = ErrorFor(head, fault->status, fault->message);
    return admission;
  }
  Router::Match match = router_.Find(head.method, head.target);
  if (head.method == "OPTIONS" && match.handler == nullptr) {
    admission.answer = AnswerOptions(head);
  } else if (!keys_.Allow(head.target.path, head.headers)) {
    admission.answer = ErrorFor(head, 401, "invalid or missing API key");
    admission.answer->headers.Set("WWW-Authenticate", "Bearer");
  } else if (match.handler != nullptr) {
    admission.handler = match.handler;
    admission.segments = std::move(match.segments);
    admission.api_key = keys_.KeyIn(head.headers);
  } else if (match.methods.empty()) {
    admission.answer = ErrorFor(head, 404, "there is nothing at this path");
  } else {
    admission.answer = ErrorFor(head, 405, "this path does not have the method " + head.method);
    admission.answer->headers.Set("Allow", Router::Allow(std::move(match.methods)));
  }
  return admission;
}

}  // namespace vivace::http
