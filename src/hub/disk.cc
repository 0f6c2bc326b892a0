#include "hub/disk.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace vivace {
namespace {

namespace fs = std::filesystem;

Failure SystemFailure(const std::string& path, int code) {
  return Fail(ErrorKind::kIo, path + ": " + std::generic_category().message(code));
}

}  // namespace

std::uint64_t FileSize(const std::string& path) {
  std::error_code error;
  const std::uint64_t size = fs::file_size(path, error);
  return error ? 0 : size;
}

Result<void> CheckSpace(const std::string& path, std::uint64_t bytes) {
  std::error_code error;
  const std::string folder = fs::path(path).parent_path().string();
  const fs::space_info space = fs::space(folder, error);
  if (error || space.available >= bytes) return {};
  return Fail(ErrorKind::kExhausted, fmt::format("{:.0f} MB more are needed, {} has {:.0f} MB free",
                                                 static_cast<double>(bytes) / 1e6, folder,
                                                 static_cast<double>(space.available) / 1e6));
}

Result<void> WriteFile(const std::string& path, const std::string& content) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  std::ofstream file(temporary, std::ios::binary);
  file << content;
  file.close();
  if (!file) {
    RemoveFile(temporary);
    return Fail(ErrorKind::kIo, path + ": cannot be written");
  }
  return PublishFile(temporary, path);
}

Result<void> PublishFile(const std::string& from, const std::string& to) {
  const int fd = open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return SystemFailure(from, errno);
  const int code = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  if (code != 0) return SystemFailure(from, code);
  if (std::rename(from.c_str(), to.c_str()) != 0) return SystemFailure(to, errno);
  return {};
}

void RemoveFile(const std::string& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
}

}  // namespace vivace
