// What the requests that probe and the ones that fetch have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <curl/curl.h>

#include "hub/download.h"

namespace vivace {

using CurlHandle = std::unique_ptr<CURL, void (*)(CURL*)>;

// curl_easy_setopt's own type checks are a macro that wants literal options.
template <class T>
void SetOption(CURL* curl, CURLoption option, T value) {
  (curl_easy_setopt)(curl, option, value);
}

// The headers of the newest answer, and what any answer so far has announced: hosts of
// large files name size and hash in the answer that redirects to the file.
struct AnswerHeaders {
  long status = 0;
  std::uint64_t length = 0;       // 0: not said
  std::uint64_t range_total = 0;  // the whole file's, in an answer to a range
  Announced announced;

  void Take(std::string line);
};

// A request for `url` whose headers go to `headers`, which must outlive it.
CurlHandle MakeRequest(const std::string& url, AnswerHeaders& headers);

// Why a request failed, in words without the URL.
std::string CurlProblem(CURLcode code);

}  // namespace vivace
