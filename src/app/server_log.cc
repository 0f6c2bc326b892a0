#include "app/server_log.h"

#include <chrono>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/async.h>
#include <spdlog/async_logger.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "api/errors.h"

namespace vivace {
namespace {

constexpr std::size_t kLinesWaiting = 8192;

std::string Stamp(std::chrono::system_clock::time_point time) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch());
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(time)), ms.count() % 1000);
}

// A line stays a line, whatever a client puts into its path.
std::string OneLine(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace

ServerLog::ServerLog(LogFormat format, const std::string& level) : format_(format) {
  spdlog::init_thread_pool(kLinesWaiting, 1);
  logger_ = std::make_shared<spdlog::async_logger>(
      "server", std::make_shared<spdlog::sinks::stderr_sink_mt>(), spdlog::thread_pool(),
      spdlog::async_overflow_policy::overrun_oldest);
  logger_->set_pattern("%v");
  logger_->set_level(spdlog::level::from_str(level));
  logger_->flush_on(spdlog::level::trace);
}

ServerLog::~ServerLog() {
  spdlog::shutdown();  // joins the thread that writes
}

void ServerLog::Access(const http::AccessEntry& entry) {
  if (!logger_->should_log(spdlog::level::info)) return;
  if (format_ == LogFormat::kText) {
    logger_->info("{} {} {} {} {} {} B {:.1f} ms (first byte {:.1f}) {}", Stamp(entry.time),
                  entry.peer, entry.method, OneLine(entry.path), entry.status, entry.bytes,
                  entry.duration_ms, entry.first_byte_ms, entry.id);
    return;
  }
  logger_->info("{}", Dump({{"time", Stamp(entry.time)},
                            {"level", "info"},
                            {"event", "request"},
                            {"id", entry.id},
                            {"peer", entry.peer},
                            {"method", entry.method},
                            {"path", entry.path},
                            {"status", entry.status},
                            {"bytes", entry.bytes},
                            {"duration_ms", entry.duration_ms},
                            {"first_byte_ms", entry.first_byte_ms}}));
}

void ServerLog::Info(const std::string& message) {
  const std::string now = Stamp(std::chrono::system_clock::now());
  if (format_ == LogFormat::kText) {
    logger_->info("{} {}", now, OneLine(message));
  } else {
    logger_->info("{}", Dump({{"time", now}, {"level", "info"}, {"message", message}}));
  }
}

void ServerLog::Warn(const std::string& message) {
  const std::string now = Stamp(std::chrono::system_clock::now());
  if (format_ == LogFormat::kText) {
    logger_->warn("{} warning: {}", now, OneLine(message));
  } else {
    logger_->warn("{}", Dump({{"time", now}, {"level", "warn"}, {"message", message}}));
  }
}

}  // namespace vivace
