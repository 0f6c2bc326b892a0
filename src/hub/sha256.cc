#include "hub/sha256.h"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <openssl/evp.h>

namespace vivace {

Result<std::string> Sha256OfFile(const std::string& path, const std::stop_token& stop) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (file == nullptr) {
    return Fail(ErrorKind::kIo, path + ": " + std::generic_category().message(errno));
  }
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> hash(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  if (hash == nullptr || EVP_DigestInit_ex(hash.get(), EVP_sha256(), nullptr) != 1) {
    return Fail(ErrorKind::kUnsupported, "the OpenSSL library here computes no SHA-256");
  }
  std::vector<unsigned char> buffer(std::size_t{1} << 20);
  std::size_t count = 0;
  while ((count = std::fread(buffer.data(), 1, buffer.size(), file.get())) != 0) {
    if (stop.stop_requested()) return Fail(ErrorKind::kCancelled, path + ": interrupted");
    EVP_DigestUpdate(hash.get(), buffer.data(), count);
  }
  if (std::ferror(file.get()) != 0) return Fail(ErrorKind::kIo, path + ": cannot be read");
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_DigestFinal_ex(hash.get(), digest, &size);
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

}  // namespace vivace
