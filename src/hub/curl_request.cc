#include "hub/curl_request.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>

namespace vivace {
namespace {

// A host that has not answered by then is not going to.
constexpr long kConnectSeconds = 3;

// The number at the start of the text; 0 where there is none.
std::uint64_t Number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? value : 0;
}

std::size_t OnHeader(char* data, std::size_t size, std::size_t count, void* context) {
  static_cast<AnswerHeaders*>(context)->Take(std::string(data, size * count));
  return size * count;
}

}  // namespace

void AnswerHeaders::Take(std::string line) {
  std::transform(line.begin(), line.end(), line.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (line.starts_with("http/")) {
    const std::size_t space = line.find(' ');
    status = space == std::string::npos ? 0 : static_cast<long>(Number(line.substr(space + 1, 3)));
    length = 0;
    range_total = 0;
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string::npos) return;
  const std::string_view name = std::string_view(line).substr(0, colon);
  std::string_view value = std::string_view(line).substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '"')) value.remove_prefix(1);
  if (name == "content-length") {
    length = Number(value);
  } else if (name == "content-range" && value.find('/') != std::string_view::npos) {
    range_total = Number(value.substr(value.find('/') + 1));
  } else if (name == "x-linked-size" && announced.size == 0) {
    announced.size = Number(value);
  } else if (name == "x-linked-etag" && announced.sha256.empty()) {
    // Small files have a shorter hash there, of another kind.
    const std::size_t digits = std::min(value.find_first_not_of("0123456789abcdef"), value.size());
    if (digits == 64) announced.sha256 = value.substr(0, digits);
  }
}

CurlHandle MakeRequest(const std::string& url, AnswerHeaders& headers) {
  CurlHandle curl(curl_easy_init(), curl_easy_cleanup);
  SetOption(curl.get(), CURLOPT_URL, url.c_str());
  SetOption(curl.get(), CURLOPT_USERAGENT, "vivace");
  SetOption(curl.get(), CURLOPT_NOSIGNAL, 1L);
  SetOption(curl.get(), CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  // A name server that hangs would otherwise be waited for when the request is dropped.
  SetOption(curl.get(), CURLOPT_QUICK_EXIT, 1L);
  SetOption(curl.get(), CURLOPT_PROTOCOLS_STR, "https,http,file");
  // A redirect leads neither to local files nor away from encryption.
  SetOption(curl.get(), CURLOPT_REDIR_PROTOCOLS_STR,
            url.starts_with("https:") ? "https" : "https,http");
  SetOption(curl.get(), CURLOPT_HEADERFUNCTION, OnHeader);
  SetOption(curl.get(), CURLOPT_HEADERDATA, &headers);
  return curl;
}

std::string CurlProblem(CURLcode code) {
  std::string text = curl_easy_strerror(code);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace vivace
