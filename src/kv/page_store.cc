#include "kv/page_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/clock.h"

namespace vivace {
namespace {

constexpr auto kPage = static_cast<std::size_t>(kPagePositions);
// Some file systems count in steps as long: a change within one may not show.
constexpr std::int64_t kFolderTimeStep = 2'000'000'000;
constexpr std::int64_t kLongestFile = 16 << 20;

std::int64_t WallNs() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::vector<PageName> NamesOf(const PageName& root, std::span<const TokenId> tokens,
                              std::size_t count) {
  std::vector<PageName> names;
  names.reserve(count);
  PageName parent = root;
  for (std::size_t page = 0; page < count; ++page) {
    parent = NameOfPage(parent, tokens.subspan(page * kPage).first<kPage>());
    names.push_back(parent);
  }
  return names;
}

}  // namespace

PageStore::PageStore(PageStoreOptions options, const PageFileKind& kind)
    : options_(std::move(options)), kind_(kind), index_(options_.folder, kind.root) {}

void PageStore::Look() {
  const std::lock_guard lock(mutex_);
  LookLocked(NowMs());
}

void PageStore::LookLocked(double now_ms) {
  if (now_ms < next_look_ms_ || now_ms < reading_.next_ms) return;
  next_look_ms_ = now_ms + options_.look_ms;
  struct stat info = {};
  if (stat(options_.folder.c_str(), &info) == 0) {
    const std::int64_t time_ns =
        std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
    if (scanned_ && time_ns == folder_time_ns_) return;
    folder_time_ns_ = WallNs() - time_ns > kFolderTimeStep ? time_ns : -1;
  }
  const auto scanned = ScanLocked();
  if (!scanned) Failed(reading_, "cannot be read", scanned.error());
}

Result<void> PageStore::ScanLocked() {
  const auto scanned = index_.Scan(!scanned_);
  scanned_ = scanned_ || scanned.has_value();
  Publish();
  return scanned;
}

void PageStore::Publish() {
  pages_.store(index_.pages(), std::memory_order_relaxed);
  bytes_.store(index_.bytes(), std::memory_order_relaxed);
}

// The files that may hold pages of a path from number `first` on, in the order of their places.
std::vector<PageStore::Candidate> PageStore::Candidates(std::span<const PageName> names,
                                                        std::size_t first) {
  std::vector<Candidate> found;
  const std::lock_guard lock(mutex_);
  LookLocked(NowMs());
  for (std::size_t begin = 0; begin < names.size(); ++begin) {
    for (const IndexedFile& file : index_.StartingWith(names[begin])) {
      if (begin + static_cast<std::size_t>(file.count) > first) found.push_back({begin, file});
    }
  }
  return found;
}

Result<PageFile> PageStore::Open(const IndexedFile& file) {
  auto opened = PageFile::Open(index_.PathOf(file), kind_);
  if (opened) {
    const auto& pages = opened->header().pages;
    const bool fits = std::ssize(pages) == file.count && pages.front().name == file.first &&
                      pages.back().name == file.last;
    if (!fits) opened = Fail(ErrorKind::kBadInput, "has pages that its name does not tell");
  }
  if (!opened) Refuse(file, opened.error());
  return opened;
}

void PageStore::Refuse(const IndexedFile& file, const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    if (error.kind == ErrorKind::kNotFound || error.kind == ErrorKind::kIo) {
      index_.Forget(file);
    } else {
      index_.Remove(file);
    }
    Publish();
  }
  if (error.kind == ErrorKind::kIo) Failed(reading_, "cannot be read", error);
}

std::int64_t PageStore::Read(std::span<const TokenId> tokens, std::int64_t first,
                             std::span<std::uint16_t* const> pages, const std::atomic<bool>& stop) {
  const std::uint64_t epoch = epoch_;
  const auto begin = static_cast<std::size_t>(first);
  const std::vector<PageName> names = NamesOf(kind_.root, tokens, begin + pages.size());
  std::size_t next = begin;
  std::vector<Candidate> used;
  for (const Candidate& candidate : Candidates(names, begin)) {
    if (candidate.begin > next || stop) break;
    const std::size_t before = next;
    next = ReadFile(candidate, names, tokens, next, pages.subspan(next - begin), stop);
    if (next > before) used.push_back(candidate);
  }
  Touch(used);
  return epoch == epoch_ ? static_cast<std::int64_t>(next - begin) : 0;
}

// Returns the number of the path's first page that is still missing; `pages` begins with `next`.
std::size_t PageStore::ReadFile(const Candidate& candidate, std::span<const PageName> names,
                                std::span<const TokenId> tokens, std::size_t next,
                                std::span<std::uint16_t* const> pages,
                                const std::atomic<bool>& stop) {
  const auto file = Open(candidate.file);
  if (!file) return next;
  const std::size_t end =
      candidate.begin + static_cast<std::size_t>(file->CountShared(names, tokens));
  if (end <= next) return next;
  file->WillRead(static_cast<std::int64_t>(next - candidate.begin));
  for (std::uint16_t* page : pages.first(end - next)) {
    if (stop) break;
    const auto read = file->Read(static_cast<std::int64_t>(next - candidate.begin), page);
    if (!read) {
      Refuse(candidate.file, read.error());
      break;
    }
    ++next;
  }
  return next;
}

std::vector<bool> PageStore::Covered(std::span<const PageToStore> path,
                                     std::vector<Candidate>& files) {
  std::vector<PageName> names;
  std::vector<TokenId> tokens;
  names.reserve(path.size());
  tokens.reserve(path.size() * kPage);
  for (const PageToStore& page : path) {
    names.push_back(page.name);
    tokens.insert(tokens.end(), page.tokens.begin(), page.tokens.end());
  }
  std::vector<bool> covered(path.size());
  for (const Candidate& candidate : Candidates(names, 0)) {
    const auto file = Open(candidate.file);
    if (!file) continue;
    const std::int64_t shared = file->CountShared(names, tokens);
    if (shared == 0) continue;
    files.push_back(candidate);
    std::fill_n(covered.begin() + static_cast<std::ptrdiff_t>(candidate.begin), shared, true);
  }
  return covered;
}

std::int64_t PageStore::Write(std::span<const PageToStore> path, const std::atomic<bool>& dropped) {
  if (NowMs() < writing_.next_ms) return 0;
  path = path.first(std::min(path.size(), LongestPath()));
  const std::uint64_t epoch = epoch_;
  std::vector<Candidate> files;
  const std::vector<bool> covered = Covered(path, files);
  Touch(files);
  std::int64_t written = 0;
  for (std::size_t first = 0; first < path.size() && !dropped;) {
    std::size_t end = first;
    while (end < path.size() && !covered[end] && end - first < LongestRun()) ++end;
    if (end > first) {
      const auto file = WriteRun(path, first, end - first, epoch);
      if (!file) {
        if (file.error().kind != ErrorKind::kCancelled) {
          Failed(writing_, "cannot be written", file.error());
        }
        break;
      }
      files.push_back({first, *file});
      written += static_cast<std::int64_t>(end - first);
    }
    first = std::max(end, first + 1);
  }
  std::ranges::stable_sort(files, {}, &Candidate::begin);
  if (written > 0) Touch(files);
  return written;
}

Result<IndexedFile> PageStore::WriteRun(std::span<const PageToStore> path, std::size_t first,
                                        std::size_t count, std::uint64_t epoch) {
  const auto pages = static_cast<std::int64_t>(count);
  IndexedFile file = {
      .first = path[first].name, .last = path[first + count - 1].name, .count = pages};
  file.bytes =
      static_cast<std::int64_t>(PageFileHeaderBytes(static_cast<std::int64_t>(first), pages) +
                                count * kind_.shape.page_bytes());
  VIVACE_RETURN_IF_ERROR(MakeFolder());
  VIVACE_RETURN_IF_ERROR(MakeRoom(file.bytes));
  const auto cleared = [this, epoch] { return epoch != epoch_; };
  auto temporary = TemporaryPageFile::Write(options_.folder, kind_, path, first, count, cleared);
  if (!temporary) return Failure(std::move(temporary).error());
  const std::lock_guard lock(mutex_);
  if (cleared()) return Fail(ErrorKind::kCancelled, "not needed any more");
  VIVACE_RETURN_IF_ERROR(temporary->Publish(index_.PathOf(file)));
  file.used_ns = WallNs();
  index_.Add(file);
  Publish();
  return file;
}

// Only its owner may look into it: the files tell what was asked.
Result<void> PageStore::MakeFolder() const {
  if (mkdir(options_.folder.c_str(), 0700) == 0 || errno == EEXIST) return {};
  std::error_code error;
  const std::filesystem::path folder(options_.folder);
  std::filesystem::create_directories(folder.parent_path(), error);
  if (mkdir(options_.folder.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return Fail(ErrorKind::kIo, std::generic_category().message(errno));
}

// Removes what was not used for the longest time until a file of `bytes` fits.
Result<void> PageStore::MakeRoom(std::int64_t bytes) {
  if (bytes > options_.max_bytes) {
    return Fail(ErrorKind::kCancelled, "larger than the whole store may be");
  }
  const std::lock_guard lock(mutex_);
  if (index_.bytes() + bytes <= options_.max_bytes) return {};
  // When files were used by others shows only in the folder.
  VIVACE_RETURN_IF_ERROR(ScanLocked());
  for (const IndexedFile& file : index_.LeastRecentlyUsedFirst()) {
    // A little more, so that not every file costs a scan.
    if (index_.bytes() + bytes <= options_.max_bytes - options_.max_bytes / 32) break;
    index_.Remove(file);
  }
  Publish();
  return {};
}

// A file is at most a quarter of the store, so that one request does not replace all others, and
// short enough to wait for.
std::size_t PageStore::LongestRun() const {
  const auto page_bytes = static_cast<std::int64_t>(kind_.shape.page_bytes());
  return static_cast<std::size_t>(std::clamp<std::int64_t>(
      std::min(kLongestFile, options_.max_bytes / 4) / page_bytes, 1, kMaxFilePages));
}

// Of a path that is too long for the store the beginning is kept, or its end would replace it.
std::size_t PageStore::LongestPath() const {
  const auto page_bytes = static_cast<std::int64_t>(kind_.shape.page_bytes());
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(options_.max_bytes / 4 * 3 / page_bytes, 1, kMaxPathPages));
}

// Marks files of one path as used, the last one first: a page goes before those it continues.
void PageStore::Touch(std::span<const Candidate> files) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = files.size(); i-- > 0;) {
    last_touch_ns_ = std::max(last_touch_ns_ + 1, WallNs());
    const timespec time = {.tv_sec = last_touch_ns_ / 1'000'000'000,
                           .tv_nsec = last_touch_ns_ % 1'000'000'000};
    const timespec times[2] = {time, time};
    utimensat(AT_FDCWD, index_.PathOf(files[i].file).c_str(), times, AT_SYMLINK_NOFOLLOW);
  }
}

void PageStore::Clear() {
  const std::lock_guard lock(mutex_);
  ++epoch_;
  const auto scanned = ScanLocked();
  if (!scanned) Failed(reading_, "cannot be read", scanned.error());
  for (const IndexedFile& file : index_.LeastRecentlyUsedFirst()) index_.Remove(file);
  Publish();
}

void PageStore::Remove(std::span<const PageName> names) {
  const std::lock_guard lock(mutex_);
  static_cast<void>(ScanLocked());
  for (const PageName& name : names) {
    for (const IndexedFile& file : index_.StartingWith(name)) {
      if (std::ranges::binary_search(names, file.last)) index_.Remove(file);
    }
  }
  Publish();
}

void PageStore::Failed(Pace& pace, const std::string& what, const Error& error) {
  pace.next_ms = NowMs() + options_.retry_ms;
  if (pace.told.exchange(true) || !options_.warn) return;
  options_.warn(options_.folder + " " + what + ", going on without it: " + error.message);
}

}  // namespace vivace
