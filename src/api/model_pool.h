// ModelPool: the models of one server, loaded when first asked for and let go when idle.
//
// A request holds a lease while it runs; a model without leases may be unloaded, by the
// pool's own thread: after its keep-alive time, or when another needs its place. Names
// from requests never reach the file system: only what is served or lies in the models
// folder is found. Any thread may call.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "api/served_model.h"
#include "base/result.h"

namespace vivace {

using ModelLease = std::shared_ptr<ServedModel>;
// Called while a model is loaded, with the share done, 0 to 1; not where that is quick.
using LoadProgress = std::function<void(double share)>;

class ModelPool {
 public:
  using Clock = std::chrono::steady_clock;
  using Loader = std::function<Result<std::unique_ptr<ServedModel>>(const std::string& model,
                                                                    const LoadProgress& progress)>;
  // A model that may be loaded, by its name for people; what the loader takes.
  using Finder = std::function<Result<std::string>(const std::string& name)>;
  // Forever where empty; zero: unload once idle.
  using KeepAlive = std::optional<std::chrono::milliseconds>;

  struct Options {
    std::vector<std::string> pinned;  // what the server was started with: never unloaded
    std::map<std::string, std::string> aliases = {};  // further names -> names
    std::size_t max_models = 3;                       // in memory at once
    KeepAlive keep_alive = std::chrono::minutes(5);   // of the others
    Loader load;
    Finder find;
  };

  explicit ModelPool(Options options);
  ModelPool(const ModelPool&) = delete;
  ModelPool& operator=(const ModelPool&) = delete;
  // Cancels what runs and unloads everything. No lease may be left but those of requests.
  ~ModelPool();

  // "" and "default" are the first pinned model. Waits while it is being loaded, by this
  // or another caller. kNotFound for unknown names, kExhausted when all places are busy.
  Result<ModelLease> Acquire(const std::string& name);
  // What `name` means, loaded or not, without loading it: "" and "default", an alias, or a
  // model of the folder. kNotFound.
  Result<std::string> KeyOf(const std::string& name) const;
  bool IsPinned(const std::string& key) const;
  // Only if it is in memory.
  ModelLease Peek(const std::string& name);

  struct Loaded {
    ModelLease model;
    std::optional<Clock::time_point> expires;  // none: never, or busy
    double load_ms = 0;
  };
  // Looking at models keeps none of them longer.
  std::vector<Loaded> List();

  // What is being loaded, by its key, and how far that is.
  std::map<std::string, double> Loading();

  // From the end of the next lease on. Pinned models stay whatever is asked.
  void SetKeepAlive(const ServedModel& model, KeepAlive keep_alive);

  // Whether all pinned models are loaded.
  bool ready();
  const Options& options() const { return options_; }

 private:
  struct Entry {
    std::string key;
    std::unique_ptr<ServedModel> model;  // null: being loaded
    double loaded_share = 0;             // until then
    int leases = 0;
    KeepAlive keep_alive;
    Clock::time_point idle_since;
    double load_ms = 0;
  };
  using Entries = std::list<Entry>;

  // With the lock held.
  Entry* Find(const std::string& name);
  // `counts`: the model has been used when the lease ends.
  ModelLease Lease(Entry& entry, bool counts = true);
  std::optional<Clock::time_point> ExpiryOf(const Entry& entry) const;
  bool MakePlace(std::unique_lock<std::mutex>& lock);

  Result<ModelLease> Load(const std::string& key, std::unique_lock<std::mutex>& lock);
  void EndLease(Entry& entry, bool counts);
  void Reap();

  const Options options_;
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  Entries entries_;
  bool stopping_ = false;
  std::thread reaper_;
};

}  // namespace vivace
