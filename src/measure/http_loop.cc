#include "measure/http_loop.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <utility>

#include <curl/curl.h>
#include <fmt/format.h>

namespace vivace {
namespace {

constexpr long kConnectSeconds = 10;
constexpr long kMaxConnections = 1024;

// curl_easy_setopt's own type checks are a macro that wants literal options.
template <class T>
void SetOption(CURL* curl, CURLoption option, T value) {
  (curl_easy_setopt)(curl, option, value);
}

// One request on its way.
struct Running {
  HttpCall call;
  HttpCall::Head head;
  std::size_t bytes = 0;
  bool too_large = false;
  curl_slist* headers = nullptr;
  CURL* curl = nullptr;

  explicit Running(HttpCall given) : call(std::move(given)), curl(curl_easy_init()) {}
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
  }

  void ReadHead() {
    long status = 0;
    (curl_easy_getinfo)(curl, CURLINFO_RESPONSE_CODE, &status);
    char* type = nullptr;
    (curl_easy_getinfo)(curl, CURLINFO_CONTENT_TYPE, &type);
    head = {.status = static_cast<int>(status), .content_type = type == nullptr ? "" : type};
  }
};

std::size_t OnBytes(char* data, std::size_t size, std::size_t count, void* context) {
  auto& running = *static_cast<Running*>(context);
  const std::string_view bytes(data, size * count);
  if (running.bytes == 0) running.ReadHead();
  running.bytes += bytes.size();
  running.too_large = running.bytes > running.call.max_bytes;
  if (running.too_large) return 0;  // ends the request
  if (running.call.on_bytes) running.call.on_bytes(running.head, bytes);
  return bytes.size();
}

void Prepare(Running& running) {
  CURL* curl = running.curl;
  const HttpCall& call = running.call;
  SetOption(curl, CURLOPT_URL, call.url.c_str());
  SetOption(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  SetOption(curl, CURLOPT_USERAGENT, "vivace");
  SetOption(curl, CURLOPT_NOSIGNAL, 1L);
  SetOption(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  SetOption(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  SetOption(curl, CURLOPT_LOW_SPEED_TIME, std::max(1L, static_cast<long>(call.silence_s)));
  SetOption(curl, CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  // What is here is never reached through a proxy.
  SetOption(curl, CURLOPT_NOPROXY, "localhost,127.0.0.1,::1");
  running.headers = curl_slist_append(running.headers, "Accept: text/event-stream, */*");
  if (!call.body.empty()) {
    SetOption(curl, CURLOPT_POSTFIELDS, call.body.c_str());
    SetOption(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
    running.headers = curl_slist_append(running.headers, "Content-Type: application/json");
    // Large bodies would otherwise wait for a 100 that many servers never send.
    running.headers = curl_slist_append(running.headers, "Expect:");
  }
  for (const std::string& header : call.headers) {
    running.headers = curl_slist_append(running.headers, header.c_str());
  }
  SetOption(curl, CURLOPT_HTTPHEADER, running.headers);
  SetOption(curl, CURLOPT_WRITEFUNCTION, OnBytes);
  SetOption(curl, CURLOPT_WRITEDATA, &running);
  SetOption(curl, CURLOPT_PRIVATE, &running);
}

// In words, as the end of a sentence that names the address.
std::string ProblemOf(CURLcode code, const Running& running) {
  switch (code) {
    case CURLE_OK:
      return "";
    case CURLE_COULDNT_CONNECT:
      return "nothing answers there (connection refused or not reachable)";
    case CURLE_COULDNT_RESOLVE_HOST:
      return "no machine of that name is known";
    case CURLE_OPERATION_TIMEDOUT:
      return running.bytes == 0 && running.head.status == 0
                 ? fmt::format("no answer within {:.0f} s", running.call.silence_s)
                 : fmt::format("no byte for {:.0f} s", running.call.silence_s);
    case CURLE_GOT_NOTHING:
      return "the connection was closed without an answer";
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
      return "the connection broke in the middle of the answer";
    case CURLE_UNSUPPORTED_PROTOCOL:
      return "what answers does not speak HTTP";
    case CURLE_WRITE_ERROR:
      if (running.too_large)
        return fmt::format("the answer is longer than {} bytes", running.call.max_bytes);
      break;
    default:
      break;
  }
  std::string text = curl_easy_strerror(code);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace

class HttpLoop::Core {
 public:
  Core() : multi_(curl_multi_init()) {
    (curl_multi_setopt)(multi_, CURLMOPT_MAXCONNECTS, kMaxConnections);
  }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  ~Core() {
    for (const auto& [curl, running] : running_) curl_multi_remove_handle(multi_, curl);
    running_.clear();
    curl_multi_cleanup(multi_);
  }

  void Start(HttpCall call) {
    auto running = std::make_unique<Running>(std::move(call));
    Prepare(*running);
    CURL* curl = running->curl;
    running_.emplace(curl, std::move(running));
    curl_multi_add_handle(multi_, curl);
  }

  void Poll(double ms) {
    int active = 0;
    curl_multi_perform(multi_, &active);
    if (!TakeEnded()) {
      curl_multi_poll(multi_, nullptr, 0, static_cast<int>(std::clamp(ms, 0.0, 60'000.0)), nullptr);
      curl_multi_perform(multi_, &active);
      TakeEnded();
    }
  }

  std::size_t running() const { return running_.size(); }

 private:
  bool TakeEnded() {
    bool any = false;
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      any = true;
      CURL* const curl = message->easy_handle;
      const CURLcode code = message->data.result;
      curl_multi_remove_handle(multi_, curl);
      // Its callback may start others, which moves the map's elements.
      const auto found = running_.find(curl);
      const std::unique_ptr<Running> ended = std::move(found->second);
      running_.erase(found);
      ended->ReadHead();
      if (ended->call.on_end) {
        ended->call.on_end({.head = ended->head, .problem = ProblemOf(code, *ended)});
      }
    }
    return any;
  }

  CURLM* multi_;
  std::unordered_map<CURL*, std::unique_ptr<Running>> running_;
};

HttpLoop::HttpLoop() : core_(std::make_unique<Core>()) {}
HttpLoop::~HttpLoop() = default;
void HttpLoop::Start(HttpCall call) { core_->Start(std::move(call)); }
void HttpLoop::Poll(double ms) { core_->Poll(ms); }
std::size_t HttpLoop::running() const { return core_->running(); }

}  // namespace vivace
