// For tests: files in a temporary folder, and where the repository is.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace vivace {

// The repository's root, ending in a slash.
inline std::string SourceFolder() {
  const char* folder = std::getenv("VIVACE_SOURCE_DIR");
  return folder == nullptr ? "" : std::string(folder) + "/";
}

// A tree of files that is removed with this object. Tests run as processes side by side,
// so the process id is part of the name.
class FileTree {
 public:
  explicit FileTree(const std::string& name)
      : root_(testing::TempDir() + "vivace_" + name + "_" + std::to_string(getpid()) + "/") {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  FileTree(const FileTree&) = delete;
  FileTree& operator=(const FileTree&) = delete;
  ~FileTree() { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, std::string_view text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  // Ends in a slash.
  const std::string& root() const { return root_; }

 private:
  std::string root_;
};

}  // namespace vivace
