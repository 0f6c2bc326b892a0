#include "model/loader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "gguf/gguf_file.h"
#include "model/pack_writer.h"

namespace vivace {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kWriteBytes = std::size_t{16} << 20;

// A file of a fixed size in the making: removed unless it is kept.
class TemporaryFile {
 public:
  static Result<TemporaryFile> Create(const std::string& path, std::uint64_t size) {
    TemporaryFile file;
    file.path_ = path;
    file.fd_ = open(file.path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file.fd_ < 0) return SystemFailure(file.path_, errno);
    // Reserves the blocks: a full disk is an error here, not a fault while packing.
    const int code = posix_fallocate(file.fd_, 0, static_cast<off_t>(size));
    if (code != 0) return SystemFailure(file.path_, code);
    return file;
  }

  TemporaryFile() = default;
  TemporaryFile(TemporaryFile&& other) noexcept
      : path_(std::exchange(other.path_, {})),
        fd_(std::exchange(other.fd_, -1)),
        bytes_(std::exchange(other.bytes_, {})) {}
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
    if (fd_ >= 0) close(fd_);
    if (!path_.empty()) unlink(path_.c_str());
  }

  // The file's bytes, to be written to.
  Result<std::span<std::byte>> Map(std::uint64_t size) {
    void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (data == MAP_FAILED) return SystemFailure(path_, errno);
    bytes_ = {static_cast<std::byte*>(data), size};
    return bytes_;
  }

  // `progress` is called with the bytes that are written.
  Result<void> Write(std::span<const std::byte> bytes,
                     const std::function<void(std::size_t)>& progress) {
    for (std::size_t done = 0; done < bytes.size();) {
      const std::size_t count = std::min(kWriteBytes, bytes.size() - done);
      const ssize_t written = pwrite(fd_, bytes.data() + done, count, static_cast<off_t>(done));
      if (written < 0 && errno != EINTR) return SystemFailure(path_, errno);
      if (written <= 0) continue;
      done += static_cast<std::size_t>(written);
      progress(done);
    }
    return {};
  }

  // Makes the bytes durable, then visible under `target`.
  Result<void> Keep(const std::string& target) {
    if (fdatasync(fd_) != 0) return SystemFailure(path_, errno);
    if (std::rename(path_.c_str(), target.c_str()) != 0) return SystemFailure(target, errno);
    path_.clear();
    return {};
  }

 private:
  static Failure SystemFailure(const std::string& path, int code) {
    return Fail(ErrorKind::kIo, path + ": " + std::generic_category().message(code));
  }

  std::string path_;
  int fd_ = -1;
  std::span<std::byte> bytes_;
};

std::string PackPath(const std::string& folder, const std::string& path,
                     const Fingerprint& fingerprint) {
  return fmt::format("{}/{}-{}.vpk", folder, fs::path(path).stem().string(), fingerprint.Hex());
}

// The pack at `path`, or nothing where there is none that can be used.
std::optional<Model> OpenExisting(const std::string& path, const Fingerprint& fingerprint,
                                  const KernelTable& kernels) {
  auto file = MappedFile::Open(path);
  if (!file) return std::nullopt;
  const auto header = OpenPack(file->bytes());
  if (!header || header->source != fingerprint) return std::nullopt;
  auto model = Model::FromImage(PackImage(std::move(*file)), kernels);
  if (!model) return std::nullopt;
  return std::move(*model);
}

Result<Model> PackInMemory(const GgufFile& file, PackPlan& plan, const KernelTable& kernels,
                           ThreadTeam& team, const LoadOptions& options) {
  auto memory = Buffer::Allocate(plan.header.total_size, HugePages::kYes);
  if (!memory) return Context(std::move(memory).error(), "memory for the packed model");
  WritePack(file, plan, {memory->data(), memory->size()}, team, options.progress);
  return Model::FromImage(PackImage(std::move(*memory)), kernels);
}

Result<void> PackToFile(const GgufFile& file, PackPlan& plan, const std::string& target,
                        ThreadTeam& team, const LoadOptions& options) {
  std::error_code error;
  fs::create_directories(options.packed_folder, error);
  if (error) return Fail(ErrorKind::kIo, options.packed_folder + ": " + error.message());
  const std::uint64_t size = plan.header.total_size;
  const std::string name = fmt::format("{}.{}", target, getpid());
  auto draft = TemporaryFile::Create(name + ".draft.tmp", size);
  if (!draft) return Failure(std::move(draft).error());
  const auto image = draft->Map(size);
  if (!image) return Failure(image.error());
  WritePack(file, plan, *image, team, [&](double share) { options.progress(share / 2); });
  // A draft is filled all over, page by page, and stays in small pages for as long as it is
  // in the page cache. What is written in large pieces lies in pages of 2 MB where the
  // file system knows them (ext4 from Linux 6.16, XFS): mapped, decode is a third faster.
  auto kept = TemporaryFile::Create(name + ".tmp", size);
  if (!kept) return Failure(std::move(kept).error());
  VIVACE_RETURN_IF_ERROR(kept->Write(*image, [&](std::size_t written) {
    options.progress((1 + static_cast<double>(written) / static_cast<double>(size)) / 2);
  }));
  return kept->Keep(target);
}

}  // namespace

Result<LoadedModel> LoadModel(const std::string& path, const KernelTable& kernels, ThreadTeam& team,
                              const LoadOptions& options) {
  const auto fingerprint = FingerprintOf(path);
  if (!fingerprint) return Failure(fingerprint.error());
  const bool to_file = !options.packed_folder.empty();
  const std::string target = to_file ? PackPath(options.packed_folder, path, *fingerprint) : "";
  if (to_file) {
    if (auto model = OpenExisting(target, *fingerprint, kernels)) {
      return LoadedModel{.model = std::move(*model), .packed_now = false};
    }
  }
  const auto file = GgufFile::Open(path);
  if (!file) return Failure(file.error());
  for (const std::string& warning : file->warnings()) options.warn(path + ": " + warning);
  auto plan = PlanPack(*file, *fingerprint);
  if (!plan) return Context(std::move(plan).error(), path);
  if (to_file) {
    const auto written = PackToFile(*file, *plan, target, team, options);
    if (!written) {
      options.warn("packing in memory: " + written.error().message);
    } else if (auto model = OpenExisting(target, *fingerprint, kernels)) {
      return LoadedModel{.model = std::move(*model), .packed_now = true};
    }
  }
  auto model = PackInMemory(*file, *plan, kernels, team, options);
  if (!model) return Context(std::move(model).error(), path);
  return LoadedModel{.model = std::move(*model), .packed_now = true};
}

}  // namespace vivace
