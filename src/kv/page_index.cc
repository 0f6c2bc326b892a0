#include "kv/page_index.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <system_error>

#include "kv/page_file_header.h"
#include "kv/temporary_page_file.h"

namespace vivace {
namespace {

// root-first-last-count.kv1: 64 bits of the model, the names of the first and the last page.
constexpr std::string_view kSuffix = ".kv1";
constexpr std::size_t kHexDigits = 16;
constexpr std::size_t kFixedPart = kHexDigits + 1 + 2 * (2 * kHexDigits + 1);
// Beyond this the folder is not ours any more; the rest is neither used nor removed.
constexpr std::size_t kMaxFiles = std::size_t{1} << 20;

bool ReadHex(std::string_view& text, std::uint64_t& value) {
  if (text.size() < kHexDigits) return false;
  const std::string_view digits = text.substr(0, kHexDigits);
  if (digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) return false;
  std::from_chars(digits.data(), digits.data() + kHexDigits, value, 16);
  text.remove_prefix(kHexDigits);
  return true;
}

bool ReadDash(std::string_view& text) {
  if (!text.starts_with('-')) return false;
  text.remove_prefix(1);
  return true;
}

// The parts that all versions' names have; `text` is left with what comes after them.
bool ReadNames(std::string_view& text, std::uint64_t& root, IndexedFile& file) {
  return ReadHex(text, root) && ReadDash(text) && ReadHex(text, file.first.high) &&
         ReadHex(text, file.first.low) && ReadDash(text) && ReadHex(text, file.last.high) &&
         ReadHex(text, file.last.low) && ReadDash(text);
}

// Whether this model's or another's, this version's or another's.
bool IsStoreFile(std::string_view name) {
  std::uint64_t root = 0;
  IndexedFile file;
  return name.size() < kFixedPart + 16 && ReadNames(name, root, file) &&
         name.find(".kv") != std::string_view::npos;
}

std::int64_t Nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

std::string PageIndex::NameOf(const IndexedFile& file) const {
  char name[kFixedPart + 32];
  std::snprintf(
      name, sizeof(name),
      "%016" PRIx64 "-%016" PRIx64 "%016" PRIx64 "-%016" PRIx64 "%016" PRIx64 "-%" PRId64 ".kv1",
      root_.low, file.first.high, file.first.low, file.last.high, file.last.low, file.count);
  return name;
}

std::optional<IndexedFile> PageIndex::Parse(std::string_view name) const {
  std::uint64_t root = 0;
  IndexedFile file;
  if (!ReadNames(name, root, file) || root != root_.low) return {};
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), file.count);
  if (error != std::errc() || file.count < 1 || file.count > kMaxFilePages) return {};
  name.remove_prefix(static_cast<std::size_t>(end - name.data()));
  if (name != kSuffix) return {};
  return file;
}

Result<void> PageIndex::Scan(bool abandoned) {
  Clear();
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(folder_.c_str()), &closedir);
  if (folder == nullptr) {
    if (errno == ENOENT) return {};
    return Fail(ErrorKind::kIo, folder_ + ": " + std::generic_category().message(errno));
  }
  errno = 0;
  while (const dirent* entry = readdir(folder.get())) {
    if (files_.size() == kMaxFiles) return {};
    Take(dirfd(folder.get()), entry->d_name, abandoned);
    errno = 0;
  }
  if (errno != 0) {
    return Fail(ErrorKind::kIo, folder_ + ": " + std::generic_category().message(errno));
  }
  return {};
}

void PageIndex::Take(int folder_fd, const std::string& name, bool abandoned) {
  if (abandoned && TemporaryPageFile::IsName(name)) {
    TemporaryPageFile::RemoveAbandoned(folder_ + "/" + name);
    return;
  }
  if (!IsStoreFile(name)) return;
  auto file = Parse(name);
  // A name in another spelling would never be found again under ours.
  if (!file || NameOf(*file) != name) {
    unlinkat(folder_fd, name.c_str(), 0);
    return;
  }
  struct stat info = {};
  if (fstatat(folder_fd, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (!S_ISREG(info.st_mode)) return;
  file->bytes = info.st_size;
  file->used_ns = Nanoseconds(info.st_mtim);
  Add(*file);
}

void PageIndex::Add(const IndexedFile& file) {
  Forget(file);
  files_.emplace(file.first, file);
  pages_ += file.count;
  bytes_ += file.bytes;
}

void PageIndex::Forget(const IndexedFile& file) {
  auto [at, end] = files_.equal_range(file.first);
  while (at != end && (at->second.last != file.last || at->second.count != file.count)) ++at;
  if (at == end) return;
  pages_ -= at->second.count;
  bytes_ -= at->second.bytes;
  files_.erase(at);
}

void PageIndex::Remove(const IndexedFile& file) {
  unlink(PathOf(file).c_str());
  Forget(file);
}

std::vector<IndexedFile> PageIndex::StartingWith(const PageName& first) const {
  std::vector<IndexedFile> found;
  auto [at, end] = files_.equal_range(first);
  for (; at != end; ++at) found.push_back(at->second);
  return found;
}

std::vector<IndexedFile> PageIndex::LeastRecentlyUsedFirst() const {
  std::vector<IndexedFile> files;
  files.reserve(files_.size());
  for (const auto& [first, file] : files_) files.push_back(file);
  std::ranges::sort(files, {}, &IndexedFile::used_ns);
  return files;
}

}  // namespace vivace
