// PageIndex: which files of the disk store there are, by their names alone.
//
// A file's name says where its pages belong, so listing the folder is enough and no file is
// opened before it is wanted. Other processes add and remove files at any time: what stands
// here is what the last Scan saw. Not thread-safe; PageStore owns it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "kv/page_name.h"

namespace vivace {

struct IndexedFile {
  PageName first;  // of its pages
  PageName last;
  std::int64_t count = 0;    // of pages
  std::int64_t bytes = 0;    // of the file
  std::int64_t used_ns = 0;  // since 1970
};

class PageIndex {
 public:
  PageIndex(std::string folder, const PageName& root) : folder_(std::move(folder)), root_(root) {}

  // Lists the folder, which may be missing. Removes files of other models and formats; with
  // `abandoned`, also what dead processes left half written.
  Result<void> Scan(bool abandoned);

  void Add(const IndexedFile& file);
  void Forget(const IndexedFile& file);
  // Forgets and deletes.
  void Remove(const IndexedFile& file);
  void Clear() { files_.clear(), pages_ = 0, bytes_ = 0; }

  std::vector<IndexedFile> StartingWith(const PageName& first) const;
  std::vector<IndexedFile> LeastRecentlyUsedFirst() const;
  std::int64_t pages() const { return pages_; }
  std::int64_t bytes() const { return bytes_; }

  std::string PathOf(const IndexedFile& file) const { return folder_ + "/" + NameOf(file); }
  std::string NameOf(const IndexedFile& file) const;

 private:
  // What a name of ours says; nothing for any other.
  std::optional<IndexedFile> Parse(std::string_view name) const;
  void Take(int folder_fd, const std::string& name, bool abandoned);

  std::string folder_;
  PageName root_;
  std::unordered_multimap<PageName, IndexedFile, PageNameHash> files_;  // by their first page
  std::int64_t pages_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace vivace
