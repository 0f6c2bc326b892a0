#include "http/gunzip.h"

#include <gtest/gtest.h>

namespace vivace::http {
namespace {

// "hello hello hello hello\n" as gzip -9 makes it, without name and time.
std::string Hello() {
  const unsigned char bytes[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
                                 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0x40, 0x27, 0xb9,
                                 0x00, 0x00, 0x88, 0x59, 0x0b, 0x18, 0x00, 0x00, 0x00};
  return {reinterpret_cast<const char*>(bytes), sizeof bytes};
}

TEST(Gunzip, GivesTheContent) {
  const auto content = Gunzip(Hello());
  ASSERT_TRUE(content) << content.error().message;
  EXPECT_EQ(*content, "hello hello hello hello\n");
}

TEST(Gunzip, RefusesWhatIsDamagedOrSomethingElse) {
  const std::string good = Hello();
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(Gunzip(std::string_view(good).substr(0, length))) << length;
  std::string named = good;
  named[3] = 8;  // says that a name follows
  EXPECT_FALSE(Gunzip(named));
  std::string longer = good;
  longer[longer.size() - 4] = 0x19;
  EXPECT_FALSE(Gunzip(longer));
  std::string huge = good;
  huge.back() = 0x7f;
  EXPECT_FALSE(Gunzip(huge));
  EXPECT_FALSE(Gunzip("plain text that is long enough to hold a header"));
}

}  // namespace
}  // namespace vivace::http
