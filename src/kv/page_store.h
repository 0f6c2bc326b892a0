// PageStore: the full pages of one model, on disk, for every process that runs it.
//
// Pages are found by name and compared by tokens, as in the PrefixCache, and checked
// against a checksum when they are read: what is damaged is removed and never used.
// Nothing here fails a request; where the disk refuses, that is said once and tried again
// later. Thread-safe. Reading and writing wait for the disk, so the engine's thread leaves
// them to others. docs/caching.md describes the files.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"
#include "kv/page_file.h"
#include "kv/page_index.h"
#include "kv/page_name.h"
#include "kv/page_pool.h"
#include "kv/temporary_page_file.h"

namespace vivace {

struct PageStoreOptions {
  // For the files of one model; made when it is first written to. Files of this format
  // that are another model's are removed.
  std::string folder = {};
  std::int64_t max_bytes = 0;  // 0: no store
  // Called from any thread; must not call back.
  std::function<void(const std::string&)> warn = {};
  double look_ms = 200;      // how old the list of files may be
  double retry_ms = 60'000;  // after the disk has refused

  bool enabled() const { return max_bytes > 0 && !folder.empty(); }
};

class PageStore {
 public:
  PageStore(PageStoreOptions options, const PageFileKind& kind);

  // Looks which files there are, if that was too long ago; the first time, also removes
  // what dead processes left half written.
  void Look();

  // Reads the pages number `first`, first + 1 ... of the path with these tokens, until one is
  // not here. Returns how many of `pages` are filled; the others are undefined. Ends early when
  // `stop` becomes true. Precondition: tokens fill first + pages.size() pages.
  std::int64_t Read(std::span<const TokenId> tokens, std::int64_t first,
                    std::span<std::uint16_t* const> pages, const std::atomic<bool>& stop);

  // Writes those pages of a path that are not here. Returns how many. Ends early when
  // `dropped` becomes true, with the file that it is at: 16 MB, or one page that is larger.
  std::int64_t Write(std::span<const PageToStore> path, const std::atomic<bool>& dropped);

  // Removes all files. What is being written now does not appear afterwards, and what is
  // being read is not handed out.
  void Clear();
  // Removes the files whose pages lie between pages with these names; sorted.
  void Remove(std::span<const PageName> names);

  // As of the last look.
  std::int64_t pages() const { return pages_.load(std::memory_order_relaxed); }
  std::int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  // A file that may hold pages of a path, and the number of its first page in it.
  struct Candidate {
    std::size_t begin;
    IndexedFile file;
  };
  // Whether a part of the work goes on after the disk has refused it.
  struct Pace {
    std::atomic<double> next_ms = 0;
    std::atomic<bool> told = false;
  };

  void LookLocked(double now_ms);
  Result<void> ScanLocked();
  std::vector<Candidate> Candidates(std::span<const PageName> names, std::size_t first);
  Result<PageFile> Open(const IndexedFile& file);
  void Refuse(const IndexedFile& file, const Error& error);
  std::size_t ReadFile(const Candidate& candidate, std::span<const PageName> names,
                       std::span<const TokenId> tokens, std::size_t next,
                       std::span<std::uint16_t* const> pages, const std::atomic<bool>& stop);
  // Which pages of the path are here, and in which files.
  std::vector<bool> Covered(std::span<const PageToStore> path, std::vector<Candidate>& files);
  Result<IndexedFile> WriteRun(std::span<const PageToStore> path, std::size_t first,
                               std::size_t count, std::uint64_t epoch);
  Result<void> MakeFolder() const;
  Result<void> MakeRoom(std::int64_t bytes);
  std::size_t LongestRun() const;   // pages of one file
  std::size_t LongestPath() const;  // pages of one path
  void Touch(std::span<const Candidate> files);
  void Failed(Pace& pace, const std::string& what, const Error& error);
  void Publish();

  PageStoreOptions options_;
  PageFileKind kind_;
  Pace reading_;
  Pace writing_;
  std::atomic<std::int64_t> pages_ = 0;
  std::atomic<std::int64_t> bytes_ = 0;
  std::atomic<std::uint64_t> epoch_ = 0;  // counts Clear
  std::mutex mutex_;
  PageIndex index_;  // under mutex_, as all below
  double next_look_ms_ = 0;
  std::int64_t folder_time_ns_ = -1;  // when the folder had changed last, at the last scan
  bool scanned_ = false;
  std::int64_t last_touch_ns_ = 0;
};

}  // namespace vivace
