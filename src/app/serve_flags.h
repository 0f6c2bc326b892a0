// What `vivace serve` can be told on the command line.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "api/service.h"
#include "app/session.h"
#include "base/fair_lock.h"
#include "engine/core.h"
#include "http/server.h"

namespace vivace {

struct ServeFlags {
  SessionFlags session;
  std::shared_ptr<FairLock> turns = std::make_shared<FairLock>();
  std::vector<std::string> models;
  std::vector<std::string> aliases;
  std::string chat_template;
  EngineOptions engine = {.context = 8192};
  bool stall_given = false;
  std::int64_t kv_memory_mb = 0;  // 0: chosen by the memory that there is
  std::int64_t kv_disk_mb = 2048;
  ServiceOptions service;
  std::size_t max_models = 3;
  double keep_alive_s = 300;
  http::ServerOptions http;
  http::Listen listen;
  http::TlsFiles tls;
  std::string warm_file;
  std::int64_t max_body_mb = 32;
  int drain_s = 30;
  bool webui = true;
  std::string history_file;
  std::string log_format = "text";
  std::string log_level = "info";
};

// Adds a flag for each, in groups.
void AddServeFlags(CLI::App& command, ServeFlags& flags);

}  // namespace vivace
