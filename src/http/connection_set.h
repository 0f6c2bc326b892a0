// ConnectionSet: every open connection of a server, and which of them wait for a request.
//
// When there are too many, the one that has waited longest goes: opening thousands of
// connections and leaving them must not shut others out. I/O thread only, except for the
// count, which any thread may read and wait for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace vivace::http {

class Connection;

class ConnectionSet {
 public:
  void Add(std::shared_ptr<Connection> connection);  // as waiting
  void Remove(Connection* connection);
  void MarkWaiting(Connection* connection);
  void MarkBusy(Connection* connection);

  // False when none waits.
  bool CloseLongestWaiting();
  // From now on connections close after the request that they are serving.
  void Drain();
  bool draining() const { return draining_; }
  void AbortAll();

  // Any thread.
  std::size_t size() const;
  bool WaitUntilEmpty(std::chrono::milliseconds time) const;

 private:
  using WaitingList = std::list<Connection*>;
  struct Entry {
    std::shared_ptr<Connection> connection;
    WaitingList::iterator waiting;  // end() while busy
  };

  std::unordered_map<Connection*, Entry> entries_;
  WaitingList waiting_;  // longest first
  bool draining_ = false;

  mutable std::mutex mutex_;  // guards size_
  mutable std::condition_variable emptied_;
  std::size_t size_ = 0;
};

}  // namespace vivace::http
