#include "api/ollama_form.h"

#include <gtest/gtest.h>

namespace vivace {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(OllamaFormTest, DurationsAsGoWritesThem) {
  EXPECT_EQ(ParseDuration("0"), seconds(0));
  EXPECT_EQ(ParseDuration("5m"), seconds(300));
  EXPECT_EQ(ParseDuration("1h30m"), seconds(5400));
  EXPECT_EQ(ParseDuration("-1s"), seconds(-1));
  EXPECT_EQ(ParseDuration("1.5s"), milliseconds(1500));
  EXPECT_EQ(ParseDuration("300ms"), milliseconds(300));
  EXPECT_EQ(ParseDuration("24h0m0s"), seconds(86400));
  for (const char* wrong :
       {"", "-", "5", "m", "5x", "1e3s", "5 m", "--1s", "inf", "nans", "99999999999h", "1s2"}) {
    EXPECT_FALSE(ParseDuration(wrong).has_value()) << wrong;
  }
}

KeepAliveWish WishOf(const Json& body, bool* valid = nullptr) {
  Fields fields(body);
  const KeepAliveWish wish = ReadKeepAlive(fields);
  if (valid != nullptr) *valid = fields.status().has_value();
  return wish;
}

TEST(OllamaFormTest, KeepAlive) {
  EXPECT_FALSE(WishOf(Json::object()).given);
  EXPECT_TRUE(WishOf({{"keep_alive", 0}}).unload());
  EXPECT_TRUE(WishOf({{"keep_alive", "0s"}}).unload());
  EXPECT_EQ(WishOf({{"keep_alive", 1.5}}).keep_alive, milliseconds(1500));
  EXPECT_EQ(WishOf({{"keep_alive", "10m"}}).keep_alive, milliseconds(600'000));
  for (const Json& forever : {Json(-1), Json("-1m"), Json(-0.5)}) {
    const KeepAliveWish wish = WishOf({{"keep_alive", forever}});
    EXPECT_TRUE(wish.given && !wish.keep_alive && !wish.unload());
  }
  for (const Json& wrong : {Json("soon"), Json(true), Json::array(), Json(1e300)}) {
    bool valid = true;
    WishOf({{"keep_alive", wrong}}, &valid);
    EXPECT_FALSE(valid) << wrong;
  }
}

TEST(OllamaFormTest, TimesAreRfc3339) {
  EXPECT_EQ(Rfc3339(std::chrono::system_clock::time_point(milliseconds(1'500))),
            "1970-01-01T00:00:01.500000Z");
}

}  // namespace
}  // namespace vivace
