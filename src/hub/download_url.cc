#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "hub/curl_request.h"
#include "hub/disk.h"

namespace vivace {
namespace {

constexpr long kStalledSeconds = 20;  // slower than 1 KB/s for so long: the connection is dead
constexpr int kMaxIdleTries = 3;      // connections in a row that brought nothing
constexpr int kMaxTries = 100;
constexpr long kPartialContent = 206;
constexpr long kRangeNotSatisfiable = 416;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

enum class Outcome {
  kDone,
  kRestart,  // what is there is not the start of this file
  kBroken,   // the connection broke; going on may help
  kFailed,
};

struct Attempt {
  Outcome outcome = Outcome::kFailed;
  Error error = {ErrorKind::kIo, "answers ranges wrongly"};
};

Attempt Failed(ErrorKind kind, std::string message) {
  return {.outcome = Outcome::kFailed, .error = {kind, std::move(message)}};
}

// One connection's work: from the bytes that are there to the end of the file.
class Transfer {
 public:
  Transfer(const std::string& part_path, std::uint64_t expected, const PullEvents& events)
      : part_path_(part_path), expected_(expected), events_(events), start_(FileSize(part_path)) {}
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  Attempt Run(const std::string& url) {
    const File file(std::fopen(part_path_.c_str(), "ab"), std::fclose);
    if (file == nullptr) {
      return Failed(ErrorKind::kIo, part_path_ + ": " + std::generic_category().message(errno));
    }
    // Without a buffer, what came before a kill is on disk.
    std::setvbuf(file.get(), nullptr, _IONBF, 0);
    file_ = file.get();
    const CurlHandle curl = MakeRequest(url, headers_);
    SetOption(curl.get(), CURLOPT_FOLLOWLOCATION, 1L);
    SetOption(curl.get(), CURLOPT_MAXREDIRS, 10L);
    SetOption(curl.get(), CURLOPT_FAILONERROR, 1L);
    SetOption(curl.get(), CURLOPT_BUFFERSIZE, 1L << 19);
    SetOption(curl.get(), CURLOPT_LOW_SPEED_LIMIT, 1024L);
    SetOption(curl.get(), CURLOPT_LOW_SPEED_TIME, kStalledSeconds);
    SetOption(curl.get(), CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(start_));
    SetOption(curl.get(), CURLOPT_WRITEFUNCTION, &Transfer::OnBody);
    SetOption(curl.get(), CURLOPT_WRITEDATA, this);
    SetOption(curl.get(), CURLOPT_NOPROGRESS, 0L);
    SetOption(curl.get(), CURLOPT_XFERINFOFUNCTION, &Transfer::OnProgress);
    SetOption(curl.get(), CURLOPT_XFERINFODATA, this);
    return Judge(curl_easy_perform(curl.get()));
  }

  const Announced& announced() const { return headers_.announced; }
  std::uint64_t received() const { return received_; }

 private:
  static std::size_t OnBody(char* data, std::size_t size, std::size_t count, void* context) {
    auto* transfer = static_cast<Transfer*>(context);
    return transfer->Take(data, size * count) ? size * count : 0;
  }

  // Called at least once a second, also when nothing comes.
  static int OnProgress(void* context, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<Transfer*>(context)->events_.stop.stop_requested() ? 1 : 0;
  }

  // False ends the transfer, with the reason in `refusal_`.
  bool Take(const char* data, std::size_t bytes) {
    if (received_ == 0 && !CheckTotal()) return false;
    if (total_ != 0 && bytes > total_ - start_ - received_) {
      return Refuse(Outcome::kFailed, ErrorKind::kIo,
                    fmt::format("sends more than the {} bytes of the file", total_));
    }
    if (std::fwrite(data, 1, bytes, file_) != bytes) {
      const int code = errno;
      return Refuse(Outcome::kFailed, code == ENOSPC ? ErrorKind::kExhausted : ErrorKind::kIo,
                    part_path_ + ": " + std::generic_category().message(code));
    }
    received_ += bytes;
    events_.progress(start_ + received_, total_);
    return true;
  }

  // Settles the file's size when the first bytes are here, before they are written.
  bool CheckTotal() {
    // A local file, which has no status, says its whole length for a rest as well.
    const std::uint64_t said =
        headers_.status == kPartialContent ? headers_.range_total : headers_.length;
    if (said != 0 && expected_ != 0 && said != expected_) {
      return Refuse(start_ == 0 ? Outcome::kFailed : Outcome::kRestart, ErrorKind::kNotFound,
                    fmt::format("has a file of {} bytes, {} are expected", said, expected_));
    }
    total_ = expected_ != 0 ? expected_ : said;
    if (total_ != 0 && total_ < start_)
      return Refuse(Outcome::kRestart, ErrorKind::kIo, "has less than was there before");
    const auto space = CheckSpace(part_path_, total_ == 0 ? 0 : total_ - start_);
    return space || Refuse(Outcome::kFailed, space.error().kind, space.error().message);
  }

  bool Refuse(Outcome outcome, ErrorKind kind, std::string message) {
    refusal_ = {.outcome = outcome, .error = {kind, std::move(message)}};
    return false;
  }

  Attempt Judge(CURLcode code) const {
    const long status = headers_.status;
    if (status == kRangeNotSatisfiable && start_ != 0) {
      return {.outcome = headers_.range_total == start_ ? Outcome::kDone : Outcome::kRestart};
    }
    switch (code) {
      case CURLE_OK:
        return {.outcome = Outcome::kDone};
      case CURLE_ABORTED_BY_CALLBACK:
        return Failed(ErrorKind::kCancelled, "interrupted");
      case CURLE_WRITE_ERROR:
        return refusal_;
      case CURLE_RANGE_ERROR:  // the host sends the whole file only
      case CURLE_BAD_DOWNLOAD_RESUME:
        return {.outcome = Outcome::kRestart};
      case CURLE_HTTP_RETURNED_ERROR:
        return Failed(ErrorKind::kNotFound, Refusal(status));
      case CURLE_FILE_COULDNT_READ_FILE:
        return Failed(ErrorKind::kNotFound, "has no such file");
      case CURLE_UNSUPPORTED_PROTOCOL:
      case CURLE_TOO_MANY_REDIRECTS:
        return Failed(ErrorKind::kNotFound, "redirects wrongly: " + CurlProblem(code));
      default:
        if (status == 0) {  // not a word from the host
          return {.outcome = start_ == 0 ? Outcome::kFailed : Outcome::kBroken,
                  .error = {ErrorKind::kNotFound, "cannot be reached: " + CurlProblem(code)}};
        }
        return {.outcome = Outcome::kBroken,
                .error = {ErrorKind::kIo, fmt::format("broke off after {} bytes: {}",
                                                      start_ + received_, CurlProblem(code))}};
    }
  }

  static std::string Refusal(long status) {
    switch (status) {
      case 401:
      case 403:
        return fmt::format(
            "answered {}: the file is private, or its licence must be agreed to there", status);
      case 404:
        return "answered 404: it has no such file";
      default:
        return fmt::format("answered {}", status);
    }
  }

  const std::string& part_path_;
  std::uint64_t expected_;
  const PullEvents& events_;
  std::uint64_t start_;
  std::FILE* file_ = nullptr;
  AnswerHeaders headers_;
  std::uint64_t total_ = 0;  // 0: unknown
  std::uint64_t received_ = 0;
  Attempt refusal_;
};

// How often a download has been tried, and whether once more may help.
class Tries {
 public:
  bool MayRepeat(const Attempt& attempt, std::uint64_t received) {
    if (attempt.outcome == Outcome::kFailed || ++count_ == kMaxTries) return false;
    if (attempt.outcome == Outcome::kRestart) return !std::exchange(restarted_, true);
    idle_ = received == 0 ? idle_ + 1 : 0;
    return idle_ < kMaxIdleTries;
  }

 private:
  int count_ = 0;
  int idle_ = 0;
  bool restarted_ = false;
};

// Adds what was not known yet.
void Learn(const Announced& said, Announced& known) {
  if (known.size == 0) known.size = said.size;
  if (known.sha256.empty()) known.sha256 = said.sha256;
}

void Pause(const std::stop_token& stop) {
  for (int i = 0; i < 10 && !stop.stop_requested(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace

Result<Announced> DownloadUrl(const std::string& url, const std::string& part_path, Announced known,
                              const PullEvents& events) {
  if (known.size != 0 && FileSize(part_path) > known.size) RemoveFile(part_path);
  for (Tries tries;;) {
    if (known.size != 0 && FileSize(part_path) == known.size) return known;
    Transfer transfer(part_path, known.size, events);
    Attempt attempt = transfer.Run(url);
    Learn(transfer.announced(), known);
    if (attempt.outcome == Outcome::kDone) return known;
    if (!tries.MayRepeat(attempt, transfer.received())) return Failure(std::move(attempt.error));
    if (attempt.outcome == Outcome::kRestart) RemoveFile(part_path);
    if (attempt.outcome == Outcome::kBroken && transfer.received() == 0) Pause(events.stop);
    if (events.stop.stop_requested()) return Fail(ErrorKind::kCancelled, "interrupted");
  }
}

}  // namespace vivace
