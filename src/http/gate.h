// Gate: what happens to a request once its head is known and before its body is read.
//
// Turns away strange origins, missing keys and unknown paths without having read a
// megabyte first, answers OPTIONS, and finds the handler. Pure: no sockets.
#pragma once

#include <optional>
#include <string>

#include "http/api_keys.h"
#include "http/options.h"
#include "http/origin_policy.h"
#include "http/request_parser.h"
#include "http/router.h"

namespace vivace::http {

class Gate {
 public:
  struct Admission {
    std::optional<Response> answer;    // already decided
    const Handler* handler = nullptr;  // else this one is asked
    Parameters segments;
    std::string api_key;  // of ours that it names
    Headers headers;      // go on the answer, whoever gives it
  };

  // Both must outlive the gate.
  Gate(const ServerOptions& options, const Router& router);

  // `fault`: the parser's, if the head is well formed as far as needed to answer in its shape.
  Admission Admit(const RequestHead& head, const std::optional<ParseFault>& fault,
                  bool loopback) const;

  // An error in the shape that the hook gives it.
  Response ErrorFor(const RequestHead& head, int status, std::string_view message) const;

 private:
  Response AnswerOptions(const RequestHead& head) const;

  const ServerOptions& options_;
  const Router& router_;
  ApiKeys keys_;
  OriginPolicy origins_;
};

}  // namespace vivace::http
