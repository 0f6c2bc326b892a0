// Service: what all endpoints of one server share.
//
// Made once by the program, before the server starts; it must outlive the server. Its
// parts look after their own threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "api/drain.h"
#include "api/model_index.h"
#include "api/model_pool.h"
#include "api/read_limit.h"
#include "api/request_metrics.h"
#include "api/workers.h"
#include "history/history_store.h"
#include "http/assets.h"

namespace vivace {

struct ServiceOptions {
  std::int64_t max_prompt_tokens = 0;  // 0: as many as the context holds
  std::int64_t max_choices = 16;       // "n" of one request
  std::int64_t default_max_tokens =
      -1;  // where a request names none; -1: until the context is full
  std::string version;
  bool allow_downloads = true;      // by /api/pull
  HistoryStore* history = nullptr;  // of the web page's conversations; must outlive the server
  // The web page's files, which must outlive the server. Null: there are none, and `no_page`
  // tells people why.
  const http::Assets* page = nullptr;
  std::string no_page = "the web page is not in this build";
};

struct Service {
  Service(ModelPool::Options models_options, ServiceOptions service_options)
      : options(std::move(service_options)), models(std::move(models_options)) {}

  const ServiceOptions options;
  RequestMetrics metrics;
  Drain drain;
  const std::chrono::system_clock::time_point started = std::chrono::system_clock::now();
  ModelPool models;
  ModelIndex index;
  ReadLimit read_limit{models};
  // After the models: jobs hold leases.
  Workers workers{4, 1024};
  Workers downloads{2, 16};  // minutes long, so apart from the others
};

}  // namespace vivace
