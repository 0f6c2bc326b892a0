#include "engine/engine.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"

namespace vivace {
namespace {

constexpr std::chrono::milliseconds kCancelPoll(20);
// Without requests for so long, the engine writes what it has learned: little is lost when it
// is killed, and nobody waits.
constexpr std::chrono::milliseconds kQuiet(500);

}  // namespace

Result<std::unique_ptr<Engine>> Engine::Create(const Model& model, ThreadTeam& team,
                                               const EngineOptions& options) {
  auto core = EngineCore::Create(model, team, options);
  if (!core) return Failure(std::move(core).error());
  return std::unique_ptr<Engine>(new Engine(model, team, std::move(*core)));
}

Engine::Engine(const Model& model, ThreadTeam& team, std::unique_ptr<EngineCore> core)
    : model_(model), team_(team), core_(std::move(core)) {
  core_->SetWake([this] { Wake(); });
  thread_ = std::thread([this] { Serve(); });
}

Engine::~Engine() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    has_mail_ = true;
  }
  mail_arrived_.notify_one();
  thread_.join();
  core_.reset();  // before what Wake needs
}

void Engine::Wake() {
  {
    const std::lock_guard lock(mutex_);
    has_mail_ = true;
  }
  mail_arrived_.notify_one();
}

Result<void> Engine::Submit(GenerateRequest request, EventSink sink, std::stop_token cancel) {
  VIVACE_RETURN_IF_ERROR(core_->Check(request));
  {
    const std::lock_guard lock(mutex_);
    const std::int64_t waiting = submitted_ - core_->metrics().requests_dequeued.value();
    const std::int64_t limit = core_->options().max_waiting;
    if (waiting >= limit) {
      return Fail(ErrorKind::kExhausted,
                  fmt::format("{} requests are waiting, allowed is up to {}", waiting, limit));
    }
    inbox_.push_back({.request = std::move(request),
                      .sink = std::move(sink),
                      .cancel = std::move(cancel),
                      .arrival_ms = NowMs()});
    ++submitted_;
    has_mail_ = true;
  }
  mail_arrived_.notify_one();
  return {};
}

void Engine::Post(Errand errand) {
  {
    const std::lock_guard lock(mutex_);
    errands_.push_back(std::move(errand));
    has_mail_ = true;
  }
  mail_arrived_.notify_one();
}

void Engine::ReportCache(std::function<void(const CacheReport&)> done) {
  Post([done = std::move(done)](EngineCore& core) {
    core.UpdateGauges();
    const PagePool& pool = core.pool();
    CacheReport report;
    report.page_bytes = static_cast<std::int64_t>(pool.shape().page_bytes());
    report.pages = pool.capacity();
    report.pages_cached = core.cache().idle_pages();
    report.pages_in_use = pool.capacity() - pool.available() - report.pages_cached;
    report.disk_pages = core.metrics().disk_pages.value();
    report.disk_bytes = core.metrics().disk_bytes.value();
    report.conversations = core.cache().List();
    const double now_ms = NowMs();
    for (PrefixCache::Conversation& conversation : report.conversations) {
      conversation.left_ms = now_ms - conversation.left_ms;
    }
    done(report);
  });
}

void Engine::ClearCache(std::string cache_id, std::function<void(std::int64_t)> done) {
  Post([cache_id = std::move(cache_id), done = std::move(done)](EngineCore& core) {
    done(core.ClearCache(cache_id));
  });
}

void Engine::LendTeam(std::function<void(ThreadTeam*)> done) {
  Post([this, done = std::move(done)](EngineCore& core) {
    done(core.has_requests() ? nullptr : &team_);
  });
}

void Engine::Serve() {
  bool busy = false;
  while (TakeMail(!busy)) {
    for (Submission& submission : taken_) core_->Add(std::move(submission));
    taken_.clear();
    for (const Errand& errand : taken_errands_) errand(*core_);
    taken_errands_.clear();
    busy = core_->Step();
  }
  for (Submission& submission : taken_) core_->Add(std::move(submission));
  for (const Errand& errand : taken_errands_) errand(*core_);
  core_->CancelAll();
}

bool Engine::TakeMail(bool idle) {
  if (!idle && !has_mail_.load(std::memory_order_acquire)) return true;
  std::unique_lock lock(mutex_);
  const auto arrived = [&] { return has_mail_.load(); };
  if (idle && core_->has_requests()) {
    // They wait for the disk, and may be cancelled meanwhile.
    mail_arrived_.wait_for(lock, kCancelPoll, arrived);
  } else if (idle) {
    if (core_->has_unsaved_answers() && !mail_arrived_.wait_for(lock, kQuiet, arrived)) {
      lock.unlock();
      core_->SaveAnswers();
      lock.lock();
    }
    mail_arrived_.wait(lock, arrived);
  }
  has_mail_ = false;
  taken_.swap(inbox_);
  taken_errands_.swap(errands_);
  return !stopping_;
}

}  // namespace vivace
