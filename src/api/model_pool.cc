#include "api/model_pool.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/model_names.h"
#include "base/clock.h"

namespace vivace {

ModelPool::ModelPool(Options options) : options_(std::move(options)), reaper_([this] { Reap(); }) {}

ModelPool::~ModelPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  reaper_.join();
  // Ends what still runs, which gives its leases back.
  for (Entry& entry : entries_) entry.model.reset();
}

bool ModelPool::IsPinned(const std::string& key) const {
  return std::ranges::find(options_.pinned, key) != options_.pinned.end();
}

Result<std::string> ModelPool::KeyOf(const std::string& name) const {
  if (name.empty() || name == "default") return options_.pinned.front();
  const auto alias = options_.aliases.find(name);
  if (alias != options_.aliases.end()) return alias->second;
  for (const std::string& key : options_.pinned) {
    if (NamesModel(name, key)) return key;
  }
  return options_.find(name);
}

ModelPool::Entry* ModelPool::Find(const std::string& key) {
  const auto found = std::ranges::find(entries_, key, &Entry::key);
  return found == entries_.end() ? nullptr : &*found;
}

ModelLease ModelPool::Lease(Entry& entry, bool counts) {
  ++entry.leases;
  return {entry.model.get(), [this, &entry, counts](ServedModel*) { EndLease(entry, counts); }};
}

void ModelPool::EndLease(Entry& entry, bool counts) {
  {
    const std::lock_guard lock(mutex_);
    --entry.leases;
    if (counts) entry.idle_since = Clock::now();
  }
  changed_.notify_all();
}

Result<ModelLease> ModelPool::Acquire(const std::string& name) {
  const auto key = KeyOf(name);
  if (!key) return Failure(key.error());
  std::unique_lock lock(mutex_);
  while (true) {
    Entry* entry = Find(*key);
    if (entry == nullptr) return Load(*key, lock);
    if (entry->model) return Lease(*entry);
    changed_.wait(lock);  // another caller loads it
  }
}

ModelLease ModelPool::Peek(const std::string& name) {
  const auto key = KeyOf(name);
  if (!key) return nullptr;
  const std::lock_guard lock(mutex_);
  Entry* entry = Find(*key);
  return entry == nullptr || !entry->model ? nullptr : Lease(*entry);
}

Result<ModelLease> ModelPool::Load(const std::string& key, std::unique_lock<std::mutex>& lock) {
  if (!MakePlace(lock)) {
    return Fail(ErrorKind::kExhausted, fmt::format("{} models are in use, allowed is up to {}",
                                                   entries_.size(), options_.max_models));
  }
  // While MakePlace unloaded another model, somebody else may have begun to load this one.
  if (Find(key) != nullptr) {
    lock.unlock();
    return Acquire(key);
  }
  Entry& entry = entries_.emplace_back();
  entry.key = key;
  if (!IsPinned(key)) entry.keep_alive = options_.keep_alive;
  lock.unlock();
  const double start_ms = NowMs();
  auto loaded = options_.load(key, [this, &entry](double share) {
    const std::lock_guard guard(mutex_);
    entry.loaded_share = share;
  });
  lock.lock();
  changed_.notify_all();
  if (!loaded) {
    entries_.remove_if([&](const Entry& other) { return &other == &entry; });
    return Failure(std::move(loaded).error());
  }
  entry.load_ms = NowMs() - start_ms;
  entry.model = std::move(*loaded);
  return Lease(entry);
}

// Evicts the model that was idle for the longest time, if all places are taken.
bool ModelPool::MakePlace(std::unique_lock<std::mutex>& lock) {
  const std::size_t most = std::max(options_.max_models, options_.pinned.size());
  while (entries_.size() >= most) {
    auto oldest = entries_.end();
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (!entry->model || entry->leases > 0 || IsPinned(entry->key)) continue;
      if (oldest == entries_.end() || entry->idle_since < oldest->idle_since) oldest = entry;
    }
    if (oldest == entries_.end()) return false;
    std::unique_ptr<ServedModel> gone = std::move(oldest->model);
    entries_.erase(oldest);
    lock.unlock();
    gone.reset();  // joins its engine
    lock.lock();
  }
  return true;
}

std::optional<ModelPool::Clock::time_point> ModelPool::ExpiryOf(const Entry& entry) const {
  if (!entry.model || entry.leases > 0 || !entry.keep_alive) return std::nullopt;
  return entry.idle_since + *entry.keep_alive;
}

std::vector<ModelPool::Loaded> ModelPool::List() {
  const std::lock_guard lock(mutex_);
  std::vector<Loaded> loaded;
  for (Entry& entry : entries_) {
    if (!entry.model) continue;
    const auto expires = ExpiryOf(entry);
    loaded.push_back({.model = Lease(entry, false), .expires = expires, .load_ms = entry.load_ms});
  }
  return loaded;
}

std::map<std::string, double> ModelPool::Loading() {
  const std::lock_guard lock(mutex_);
  std::map<std::string, double> loading;
  for (const Entry& entry : entries_) {
    if (!entry.model) loading.emplace(entry.key, entry.loaded_share);
  }
  return loading;
}

void ModelPool::SetKeepAlive(const ServedModel& model, KeepAlive keep_alive) {
  {
    const std::lock_guard lock(mutex_);
    for (Entry& entry : entries_) {
      if (entry.model.get() == &model && !IsPinned(entry.key)) entry.keep_alive = keep_alive;
    }
  }
  changed_.notify_all();
}

bool ModelPool::ready() {
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(options_.pinned, [&](const std::string& key) {
    const Entry* entry = Find(key);
    return entry != nullptr && entry->model != nullptr;
  });
}

// Waits for the next expiry, or for a change of what that is.
void ModelPool::Reap() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    std::optional<Clock::time_point> next;
    std::vector<std::unique_ptr<ServedModel>> gone;
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      const auto expiry = ExpiryOf(*entry);
      if (expiry && *expiry <= Clock::now()) {
        gone.push_back(std::move(entry->model));
        entry = entries_.erase(entry);
        continue;
      }
      if (expiry && (!next || *expiry < *next)) next = *expiry;
      ++entry;
    }
    if (!gone.empty()) {
      lock.unlock();
      gone.clear();
      lock.lock();
      continue;
    }
    if (next) {
      changed_.wait_until(lock, *next);
    } else {
      changed_.wait(lock);
    }
  }
}

}  // namespace vivace
