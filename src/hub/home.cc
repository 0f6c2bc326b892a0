#include "hub/home.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

namespace vivace {
namespace {

namespace fs = std::filesystem;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string UserFolder() {
  if (std::string home = Environment("HOME"); !home.empty()) return home;
  // Services are often started without HOME.
  std::vector<char> buffer(std::size_t{1} << 14);
  passwd entry = {};
  passwd* found = nullptr;
  getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found);
  return found == nullptr ? "/" : found->pw_dir;
}

std::string Absolute(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

}  // namespace

std::string HomeFolder() {
  if (const std::string home = Environment("VIVACE_HOME"); !home.empty()) return Absolute(home);
  // The rules of that variable: a relative path is to be ignored.
  if (const std::string cache = Environment("XDG_CACHE_HOME"); cache.starts_with('/')) {
    return cache + "/vivace";
  }
  return Absolute(UserFolder() + "/.cache/vivace");
}

std::string ModelsFolder() { return HomeFolder() + "/models"; }
std::string PackedFolder() { return HomeFolder() + "/packed"; }

Result<void> MakeFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    return Fail(ErrorKind::kIo, "the folder " + path + " cannot be made: " + error.message());
  }
  return {};
}

}  // namespace vivace
