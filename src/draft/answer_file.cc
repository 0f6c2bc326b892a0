#include "draft/answer_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <type_traits>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/mapped_file.h"

namespace vivace {
namespace {

constexpr std::array<char, 8> kMagic = {'v', 'i', 'v', 'a', 'n', 's', 'w', '1'};

struct Header {
  std::array<char, 8> magic;
  std::uint64_t model;
  std::uint64_t count;     // of tokens, which follow
  std::uint64_t checksum;  // XXH3-64 of model, count and the tokens
};
static_assert(sizeof(Header) == 32 && std::is_trivially_copyable_v<Header>);

std::uint64_t ChecksumOf(const Header& header, std::span<const std::byte> tokens) {
  const std::uint64_t facts[] = {header.model, header.count};
  return XXH3_64bits_withSeed(tokens.data(), tokens.size(), XXH3_64bits(facts, sizeof(facts)));
}

Failure SystemFailure(const std::string& path) {
  return Fail(ErrorKind::kIo, fmt::format("{}: {}", path, std::generic_category().message(errno)));
}

bool WriteAll(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return true;
}

}  // namespace

Result<void> WriteAnswerFile(const std::string& path, std::uint64_t model,
                             std::span<const TokenId> tokens) {
  Header header = {.magic = kMagic, .model = model, .count = tokens.size(), .checksum = 0};
  header.checksum = ChecksumOf(header, std::as_bytes(tokens));
  std::string temporary = path + ".XXXXXX";
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);  // readable by its user only
  if (fd < 0) return SystemFailure(path);
  const bool written =
      WriteAll(fd, std::as_bytes(std::span(&header, 1))) && WriteAll(fd, std::as_bytes(tokens));
  const bool closed = close(fd) == 0;
  if (written && closed && std::rename(temporary.c_str(), path.c_str()) == 0) return {};
  const Failure failure = SystemFailure(path);
  unlink(temporary.c_str());
  return failure;
}

Result<std::vector<TokenId>> ReadAnswerFile(const std::string& path, std::uint64_t model,
                                            std::int64_t vocab_size, std::int64_t most) {
  const auto file = MappedFile::Open(path);
  if (!file) return Failure(file.error());
  const std::span<const std::byte> bytes = file->bytes();
  const auto bad = [&](const char* what) {
    return Fail(ErrorKind::kBadInput, fmt::format("{}: {}", path, what));
  };
  Header header = {};
  if (bytes.size() < sizeof(header)) return bad("too short for a file of answers");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != kMagic) return bad("no file of answers");
  if (header.model != model) return bad("another model's answers");
  const std::span<const std::byte> body = bytes.subspan(sizeof(header));
  if (header.count > static_cast<std::uint64_t>(most) ||
      body.size() != header.count * sizeof(TokenId)) {
    return bad("not as long as it says");
  }
  if (header.checksum != ChecksumOf(header, body)) return bad("damaged");
  std::vector<TokenId> tokens(static_cast<std::size_t>(header.count));
  if (!body.empty()) std::memcpy(tokens.data(), body.data(), body.size());
  for (const TokenId token : tokens) {
    if (token < -1 || token >= vocab_size) return bad("tokens that the model does not have");
  }
  return tokens;
}

}  // namespace vivace
