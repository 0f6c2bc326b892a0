#include "http/gunzip.h"

#include <cstdint>

#include <boost/beast/zlib/inflate_stream.hpp>

namespace vivace::http {
namespace {

constexpr std::size_t kHeader = 10;
constexpr std::size_t kTrailer = 8;  // checksum and size
constexpr std::uint32_t kMostBytes = std::uint32_t{64} << 20;

std::uint32_t LittleEndian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t at = 4; at-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at]);
  return value;
}

}  // namespace

Result<std::string> Gunzip(std::string_view bytes) {
  using namespace std::string_view_literals;
  // Magic, method 8, and no flags: nothing more stands before the data.
  if (bytes.size() < kHeader + kTrailer || !bytes.starts_with("\x1f\x8b\x08\x00"sv)) {
    return Fail(ErrorKind::kBadInput, "not plain gzip data");
  }
  const std::uint32_t size = LittleEndian(bytes.substr(bytes.size() - 4));
  if (size > kMostBytes) return Fail(ErrorKind::kBadInput, "the gzip data is too large");
  // With the trailer: the decoder looks at what follows before it sees the end.
  const std::string_view data = bytes.substr(kHeader);
  // With room for one byte more, or the end of the data would not be looked at.
  std::string content(std::size_t{size} + 1, '\0');
  namespace zlib = boost::beast::zlib;
  zlib::z_params state;
  state.next_in = data.data();
  state.avail_in = data.size();
  state.next_out = content.data();
  state.avail_out = content.size();
  zlib::inflate_stream stream;
  boost::beast::error_code error;
  stream.write(state, zlib::Flush::finish, error);
  if (error != zlib::error::end_of_stream || state.avail_out != 1) {
    return Fail(ErrorKind::kBadInput, "the gzip data is damaged");
  }
  content.pop_back();
  return content;
}

}  // namespace vivace::http
