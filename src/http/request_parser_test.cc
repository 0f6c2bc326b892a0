#include "http/request_parser.h"

#include <random>

#include <gtest/gtest.h>

namespace vivace::http {
namespace {

constexpr std::size_t kHeaderLimit = 1024;
constexpr std::size_t kBodyLimit = 100;

// What came of feeding the bytes in pieces of that size: a status (0: wants more, 200: whole),
// the body, and what was left over.
struct Outcome {
  int status = 0;
  std::string body;
  std::string rest;
  bool operator==(const Outcome&) const = default;
};

Outcome Parse(std::string_view bytes, std::size_t piece = 1 << 20) {
  RequestParser parser(kHeaderLimit, kBodyLimit);
  std::string waiting;
  while (!parser.done() && !parser.fault() && (!bytes.empty() || !waiting.empty())) {
    waiting += bytes.substr(0, piece);
    const bool last = bytes.size() <= piece;
    bytes.remove_prefix(std::min(piece, bytes.size()));
    std::size_t used = 0;
    do {
      used = parser.Feed(waiting);
      waiting.erase(0, used);
    } while (used > 0);
    if (last && bytes.empty()) break;
  }
  if (parser.fault()) return {parser.fault()->status, "", ""};
  if (!parser.done()) return {};
  return {200, parser.TakeBody(), waiting + std::string(bytes)};
}

TEST(RequestParser, BodiesOfEachKind) {
  EXPECT_EQ(Parse("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), (Outcome{200, "", ""}));
  EXPECT_EQ(Parse("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET"),
            (Outcome{200, "abc", "GET"}));
  EXPECT_EQ(Parse("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "2;x=y\r\nab\r\n1\r\nc\r\n0\r\nTrailer: t\r\n\r\nnext"),
            (Outcome{200, "abc", "next"}));
  EXPECT_EQ(Parse("GET / HTTP/1.0\r\n\r\n"), (Outcome{200, "", ""}));
}

TEST(RequestParser, TheSameInPiecesOfEverySize) {
  const std::string request =
      "POST /a?b=c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n";
  for (std::size_t piece = 1; piece <= request.size(); ++piece)
    EXPECT_EQ(Parse(request, piece), (Outcome{200, "hello world", ""})) << piece;
}

TEST(RequestParser, Malformed) {
  const std::string h = "Host: a\r\n";
  const std::vector<std::pair<std::string, int>> table = {
      {"\x16\x03\x01\x02\x01\x01", 400},
      {"GET\r\n\r\n", 400},
      {"GET /\r\n\r\n", 400},
      {"G=T / HTTP/1.1\r\n" + h + "\r\n", 400},
      {"GET  / HTTP/1.1\r\n" + h + "\r\n", 400},
      {"GET / HTTP/2.0\r\n" + h + "\r\n", 505},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"GET / HTTP/9.9\r\n" + h + "\r\n", 505},
      {"GET / http/1.1\r\n" + h + "\r\n", 505},
      {"GET health HTTP/1.1\r\n" + h + "\r\n", 400},
      {"GET /%zz HTTP/1.1\r\n" + h + "\r\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + h + h + "\r\n", 400},
      {"GET / HTTP/1.1\r\n" + h + "Bad Name: x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + h + "Name : x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + h + "NoColon\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + h + ": x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + h + std::string("A: \0\r\n\r\n", 8), 400},
      {"POST / HTTP/1.1\r\n" + h + "Content-Length: -1\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" + h + "Content-Length: 1x\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" + h + "Content-Length: \r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" + h + "Content-Length: 99999999999999999999\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" + h + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" + h + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" + h + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" + h + "Transfer-Encoding: gzip\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\n" + h + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\n" + h + "Transfer-Encoding: chunked, gzip\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\n" + h + "Transfer-Encoding: xchunked\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\n" + h + "Transfer-Encoding: \r\n\r\n", 501},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" + h + "Expect: a miracle\r\n\r\n", 417},
      {"POST / HTTP/1.1\r\n" + h + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
      {"POST / HTTP/1.1\r\n" + h + "Transfer-Encoding: chunked\r\n\r\n-1\r\na\r\n", 400},
      {"POST / HTTP/1.1\r\n" + h + "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\n" + h +
           "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\na\r\n0\r\n\r\n",
       400},
  };
  for (const auto& [bytes, status] : table) {
    EXPECT_EQ(Parse(bytes).status, status) << bytes;
    EXPECT_EQ(Parse(bytes, 1).status, status) << "byte by byte: " << bytes;
  }
}

// Waits for the end of a line for ever, or says that this is none: both are safe.
TEST(RequestParser, ABareLineFeedEndsNoLine) {
  for (const std::size_t piece : {1, 1000})
    EXPECT_NE(Parse("GET / HTTP/1.1\nHost: a\n\n", piece).status, 200);
}

TEST(RequestParser, Limits) {
  const std::string h = "Host: a\r\n";
  EXPECT_EQ(Parse("GET /" + std::string(2000, 'a') + " HTTP/1.1\r\n" + h + "\r\n").status, 431);
  EXPECT_EQ(Parse("GET / HTTP/1.1\r\n" + h + "A: " + std::string(2000, 'a') + "\r\n\r\n").status,
            431);
  EXPECT_EQ(Parse("GET / HTTP/1.1\r\nA: " + std::string(2000, 'a'), 7).status, 431);
  EXPECT_EQ(Parse("POST / HTTP/1.1\r\n" + h + "Content-Length: 101\r\n\r\n").status, 413);
  EXPECT_EQ(Parse("POST / HTTP/1.1\r\n" + h + "Content-Length: 100\r\n\r\n" + std::string(100, 'x'))
                .status,
            200);
  EXPECT_EQ(Parse("POST / HTTP/1.1\r\n" + h + "Transfer-Encoding: chunked\r\n\r\n65\r\n" +
                  std::string(101, 'x') + "\r\n0\r\n\r\n")
                .status,
            413);
}

TEST(RequestParser, AFaultKeepsWhatWasUnderstood) {
  RequestParser parser(kHeaderLimit, kBodyLimit);
  parser.Feed("POST /v1/messages?x=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n");
  ASSERT_TRUE(parser.fault());
  EXPECT_EQ(parser.head().method, "POST");
  EXPECT_EQ(parser.head().target.path, "/v1/messages");
  EXPECT_EQ(parser.fault()->message, "the request's body has 5000 bytes, the limit is 100");
}

// Not a substitute for the fuzzer; it runs wherever the tests do.
TEST(RequestParser, DamagedRequestsNeverHarmIt) {
  const std::string good =
      "POST /a%20b?c=d HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: "
      "100-continue\r\n\r\n5\r\nhello\r\n0\r\nT: x\r\n\r\n";
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = good;
    for (std::uint32_t change = random() % 4; change-- > 0;) {
      const std::size_t at = random() % bytes.size();
      switch (random() % 3) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes.erase(at, random() % 5);
          break;
        default:
          bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 20));
          break;
      }
      if (bytes.empty()) bytes = good;
    }
    Parse(bytes, 1 + random() % 50);
  }
}

}  // namespace
}  // namespace vivace::http
