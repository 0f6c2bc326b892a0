// ServerLog: what a server tells on standard error: a line per request, and warnings.
//
// Lines are written by a thread of the log, so nobody waits for a slow terminal or pipe;
// when too many wait, the oldest are dropped. Any thread may write.
#pragma once

#include <memory>
#include <string>

#include "http/options.h"

namespace spdlog {
class logger;
}

namespace vivace {

enum class LogFormat { kText, kJson };

class ServerLog {
 public:
  // `level`: debug, info, warn, error or off. Precondition: one of them.
  ServerLog(LogFormat format, const std::string& level);
  ServerLog(const ServerLog&) = delete;
  ServerLog& operator=(const ServerLog&) = delete;
  ~ServerLog();  // writes what waits

  void Access(const http::AccessEntry& entry);
  void Info(const std::string& message);
  void Warn(const std::string& message);

 private:
  LogFormat format_;
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace vivace
