// JobThread: runs jobs one after the other on a thread of its own, for work that waits for
// the disk or can be done beside a step. The thread starts with the first job; where the system has
// none to give, jobs run on the caller's. One thread posts; jobs must not.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace vivace {

class JobThread {
 public:
  JobThread() = default;
  JobThread(const JobThread&) = delete;
  JobThread& operator=(const JobThread&) = delete;
  // Runs the job that has begun to its end, and none after.
  ~JobThread();

  void Post(std::function<void()> job);
  // Waits until all jobs are done, but at most so long. False: some are not.
  bool Drain(double ms);
  void Wait();  // the same, however long it takes

 private:
  void Serve();
  bool idle() const { return jobs_.empty() && !busy_; }  // under mutex_

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;  // under mutex_, as all down to stopping_
  bool busy_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace vivace
