#include "http/connection_set.h"

#include <utility>
#include <vector>

#include "http/connection.h"

namespace vivace::http {

void ConnectionSet::Add(std::shared_ptr<Connection> connection) {
  Connection* const key = connection.get();
  const auto at = waiting_.insert(waiting_.end(), key);
  entries_.emplace(key, Entry{std::move(connection), at});
  const std::scoped_lock lock(mutex_);
  size_ = entries_.size();
}

void ConnectionSet::Remove(Connection* connection) {
  MarkBusy(connection);
  entries_.erase(connection);
  const std::scoped_lock lock(mutex_);
  size_ = entries_.size();
  if (size_ == 0) emptied_.notify_all();
}

void ConnectionSet::MarkWaiting(Connection* connection) {
  const auto entry = entries_.find(connection);
  if (entry == entries_.end() || entry->second.waiting != waiting_.end()) return;
  entry->second.waiting = waiting_.insert(waiting_.end(), connection);
}

void ConnectionSet::MarkBusy(Connection* connection) {
  const auto entry = entries_.find(connection);
  if (entry == entries_.end() || entry->second.waiting == waiting_.end()) return;
  waiting_.erase(std::exchange(entry->second.waiting, waiting_.end()));
}

bool ConnectionSet::CloseLongestWaiting() {
  if (waiting_.empty()) return false;
  Connection* const longest = waiting_.front();
  MarkBusy(longest);
  longest->CloseWaiting();
  return true;
}

void ConnectionSet::Drain() {
  draining_ = true;
  const std::vector<Connection*> waiting(waiting_.begin(), waiting_.end());
  for (Connection* connection : waiting) {
    if (!connection->has_input()) connection->CloseWaiting();
  }
}

void ConnectionSet::AbortAll() {
  draining_ = true;
  for (const auto& [connection, entry] : entries_) connection->Abort();
}

std::size_t ConnectionSet::size() const {
  const std::scoped_lock lock(mutex_);
  return size_;
}

bool ConnectionSet::WaitUntilEmpty(std::chrono::milliseconds time) const {
  std::unique_lock lock(mutex_);
  return emptied_.wait_for(lock, time, [this] { return size_ == 0; });
}

}  // namespace vivace::http
