#include "measure/event_reader.h"

#include <vector>

#include "gtest/gtest.h"

namespace vivace {
namespace {

// The events of a stream that comes in pieces of `size` bytes.
std::vector<std::string> Read(std::string_view stream, std::size_t size) {
  std::vector<std::string> events;
  EventReader reader;
  const auto sink = [&](std::string_view data) { events.emplace_back(data); };
  for (std::size_t at = 0; at < stream.size(); at += size) {
    EXPECT_TRUE(reader.Take(stream.substr(at, size), sink));
  }
  reader.Finish(sink);
  return events;
}

TEST(EventReaderTest, IsTheSameHoweverTheBytesAreCut) {
  const std::string stream =
      ": ping\n\ndata: one\n\ndata:two\r\n\r\nevent: x\ndata: a\ndata: b\n\nid: 7\rdata:  c\r\r"
      "data: last";
  const std::vector<std::string> expected = {"one", "two", "a\nb", " c", "last"};
  for (std::size_t size = 1; size <= stream.size(); ++size) {
    EXPECT_EQ(Read(stream, size), expected) << "pieces of " << size;
  }
}

TEST(EventReaderTest, EmptyDataIsAnEventAndNoDataIsNone) {
  EXPECT_EQ(Read("data:\n\n", 3), std::vector<std::string>{""});
  EXPECT_TRUE(Read("event: ping\n\n: comment\n\n\n\n", 4).empty());
  EXPECT_TRUE(Read("", 1).empty());
}

TEST(EventReaderTest, AnEndlessEventIsRefused) {
  EventReader reader;
  const std::string piece(std::size_t{1} << 20, 'x');
  const auto sink = [](std::string_view) { FAIL(); };
  std::size_t taken = 0;
  while (reader.Take(piece, sink)) ASSERT_LT(++taken, 8U);
  EXPECT_GE(taken, 3U);
}

}  // namespace
}  // namespace vivace
