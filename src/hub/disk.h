// What the hub asks of the disk: sizes, room, and a rename that survives a power cut.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace vivace {

// 0 where there is no such file.
std::uint64_t FileSize(const std::string& path);

// kExhausted, with both numbers, when `bytes` more do not fit beside `path`.
Result<void> CheckSpace(const std::string& path, std::uint64_t bytes);

// Writes a small file so that a reader sees all of it or what was there before.
Result<void> WriteFile(const std::string& path, const std::string& content);

// Makes `from` durable, then gives it the name `to`.
Result<void> PublishFile(const std::string& from, const std::string& to);

// Missing files are no error.
void RemoveFile(const std::string& path);

}  // namespace vivace
