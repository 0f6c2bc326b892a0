// Engine: a thread that runs requests from any thread against one model.
//
// Requests come in through a bounded queue; what comes out goes to each request's sink,
// called on the engine's thread between two steps. Without requests the thread sleeps.
// Tests and commands that want no thread use EngineCore or Generator.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/thread_team.h"
#include "engine/core.h"
#include "engine/request.h"
#include "kv/prefix_cache.h"
#include "model/model.h"

namespace vivace {

class Engine {
 public:
  // `model` and `team` must outlive the engine; from now on its thread leads the team.
  static Result<std::unique_ptr<Engine>> Create(const Model& model, ThreadTeam& team,
                                                const EngineOptions& options);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  // Cancels what runs and waits, tells every sink, joins the thread and writes to disk what is
  // still to be written, for two seconds at most.
  ~Engine();

  // From any thread. kBadInput for a request that can never run; kExhausted while
  // options.max_waiting others wait: it may succeed later. Otherwise `sink` gets events
  // until a DoneEvent, none after. When a stop of `cancel` is requested, that comes after
  // the step that is running at the latest, whether the request runs or waits.
  Result<void> Submit(GenerateRequest request, EventSink sink, std::stop_token cancel);

  struct CacheReport {
    std::int64_t page_tokens = kPagePositions;
    std::int64_t page_bytes = 0;
    std::int64_t pages = 0;         // in all
    std::int64_t pages_in_use = 0;  // by running requests
    std::int64_t pages_cached = 0;  // by no running request
    std::int64_t disk_pages = 0;    // of all processes with this folder
    std::int64_t disk_bytes = 0;
    std::vector<PrefixCache::Conversation> conversations;  // left_ms: since then
  };
  // From any thread; `done` is called like a sink. In a busy engine that is after the
  // running step. ClearCache forgets one conversation, or all with "", in memory and on disk:
  // pages in use stay.
  void ReportCache(std::function<void(const CacheReport&)> done);
  void ClearCache(std::string cache_id, std::function<void(std::int64_t pages_freed)> done);

  // From any thread; `done` is called like a sink, with the engine's team, or with null while
  // a request runs or waits. It keeps requests waiting that come meanwhile: milliseconds at most.
  void LendTeam(std::function<void(ThreadTeam*)> done);

  const EngineMetrics& metrics() const { return core_->metrics(); }
  const EngineOptions& options() const { return core_->options(); }
  const Model& model() const { return model_; }

 private:
  using Errand = std::function<void(EngineCore&)>;

  Engine(const Model& model, ThreadTeam& team, std::unique_ptr<EngineCore> core);
  void Post(Errand errand);
  void Wake();
  void Serve();
  // Hands over what has come in; waits for something if `idle`. False: stop.
  bool TakeMail(bool idle);

  const Model& model_;
  ThreadTeam& team_;
  std::unique_ptr<EngineCore> core_;  // the engine's thread's, but for Check and metrics
  std::mutex mutex_;
  std::condition_variable mail_arrived_;
  std::vector<Submission> inbox_;  // under mutex_, as all down to stopping_
  std::int64_t submitted_ = 0;     // since the start
  std::vector<Errand> errands_;
  bool stopping_ = false;
  std::atomic<bool> has_mail_ = false;  // spares a busy engine the lock
  std::vector<Submission> taken_;       // the engine's thread's
  std::vector<Errand> taken_errands_;
  std::thread thread_;
};

}  // namespace vivace
