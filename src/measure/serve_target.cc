// Where a server is, and what it calls its model.
#include "measure/serve_target.h"

#include <algorithm>
#include <memory>

#include <curl/curl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "measure/serve_bench.h"

namespace vivace {
namespace {

using UrlHandle = std::unique_ptr<CURLU, void (*)(CURLU*)>;

std::string PartOf(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK) return {};
  std::string copy = text;
  curl_free(text);
  return copy;
}

Failure Wrong(std::string_view text, std::string_view reason) {
  return Fail(ErrorKind::kBadInput,
              fmt::format("{}: {}; an address looks like http://127.0.0.1:8080", text, reason));
}

// The first model of a list in OpenAI's form; "" where there is none.
std::string FirstModel(const std::string& body) {
  const auto json = nlohmann::json::parse(body, nullptr, false);
  if (!json.is_object() || !json.contains("data") || !json["data"].is_array()) return {};
  for (const auto& model : json["data"]) {
    if (model.is_object() && model.contains("id") && model["id"].is_string())
      return model["id"].get<std::string>();
  }
  return {};
}

}  // namespace

Result<ServeTarget> ParseServeTarget(std::string_view text) {
  ServeTarget target;
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos) return Wrong(text, "http:// or https:// is missing");
  std::string_view address = text;
  const std::size_t equals = text.substr(0, scheme).find('=');
  if (equals != std::string_view::npos) {
    target.name = text.substr(0, equals);
    address = text.substr(equals + 1);
  }
  const UrlHandle url(curl_url(), curl_url_cleanup);
  const std::string plain(address);
  if (curl_url_set(url.get(), CURLUPART_URL, plain.c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
    return Wrong(text, "this is no address");
  const std::string protocol = PartOf(url.get(), CURLUPART_SCHEME);
  if (protocol != "http" && protocol != "https")
    return Wrong(text, fmt::format("the scheme is {}, allowed are http and https", protocol));
  if (PartOf(url.get(), CURLUPART_HOST).empty()) return Wrong(text, "the host is missing");
  target.url = plain;
  while (target.url.ends_with('/')) target.url.pop_back();
  if (target.url.ends_with("/v1")) target.url.resize(target.url.size() - 3);
  if (target.name.empty()) target.name = target.url.substr(target.url.find("://") + 3);
  return target;
}

Result<std::string> FindModel(HttpLoop& loop, const ServeTarget& target,
                              const ServeBenchOptions& options) {
  std::string body;
  HttpCall::End end;
  bool done = false;
  loop.Start({.url = target.url + "/v1/models",
              .headers = AuthHeaders(options),
              .silence_s = std::min(options.silence_s, 30.0),
              .max_bytes = std::size_t{4} << 20,
              .on_bytes = [&](const HttpCall::Head&, std::string_view bytes) { body += bytes; },
              .on_end =
                  [&](const HttpCall::End& it) {
                    end = it;
                    done = true;
                  }});
  while (!done) loop.Poll(1000);
  const std::string where = fmt::format("{} ({})", target.name, target.url);
  if (!end.problem.empty()) return Fail(ErrorKind::kIo, where + ": " + end.problem);
  if (end.head.status == 401 || end.head.status == 403) {
    return Fail(ErrorKind::kIo, fmt::format("{}: HTTP {}: {} (see --api-key)", where,
                                            end.head.status, ServerSentence(body)));
  }
  // A server without that list takes any name.
  const std::string first = end.head.status == 200 ? FirstModel(body) : std::string();
  return first.empty() ? "default" : first;
}

std::vector<std::string> AuthHeaders(const ServeBenchOptions& options) {
  if (options.api_key.empty()) return {};
  return {"Authorization: Bearer " + options.api_key};
}

}  // namespace vivace
