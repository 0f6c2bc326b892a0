// Clients that take more than their share: of bytes, of time, of connections.
#include <sys/resource.h>

#include <gtest/gtest.h>

#include "http/testing.h"

namespace vivace::http::testing {
namespace {

using namespace std::chrono_literals;

constexpr const char* kUpload = "POST /echo HTTP/1.1\r\nHost: localhost\r\n";

TEST(Limits, EveryRangeIsNamed) {
  EXPECT_TRUE(Limits{}.Check());
  EXPECT_EQ(Limits{.header_bytes = 10}.Check().error().message,
            "header size 10, the range is 256 to 16777216");
  EXPECT_FALSE(Limits{.header_time = -1ms}.Check());
  EXPECT_FALSE(Limits{.ping_time = 0ms}.Check());
  EXPECT_LE(Limits{}.ping_time, 15s) << "proxies give up after 60 s of silence";
}

TEST(Limits, ALongHeaderIs431) {
  const TestServer host(WithLimits({.header_bytes = 1000}));
  Client client = host.Connect();
  const Reply reply = client.Ask(Get("/health", "A: " + std::string(5000, 'a') + "\r\n"));
  EXPECT_EQ(reply.status, 431);
  EXPECT_EQ(reply.headers.Get("Connection"), "close");
  EXPECT_TRUE(client.WaitForEnd());
}

TEST(Limits, ALongBodyIs413EvenWhileItIsBeingSent) {
  TestServer host({.limits = {.body_bytes = 1000}, .error_body = [](const ErrorFacts& facts) {
                     return Response{.body = std::string(facts.path) + " " +
                                             std::string(facts.message)};
                   }});
  Client announced = host.Connect();
  const std::string much(10 << 20, 'x');
  ASSERT_TRUE(announced.Send(std::string(kUpload) + "Content-Length: 10485760\r\n\r\n"));
  std::jthread sender([&] { (void)announced.Send(much.substr(0, 1 << 20)); });
  const Reply reply = announced.Read();
  EXPECT_EQ(reply.status, 413);
  EXPECT_EQ(reply.body, "/echo the request's body has 10485760 bytes, the limit is 1000");
  sender.join();

  Client chunked = host.Connect();
  ASSERT_TRUE(chunked.Send(std::string(kUpload) + "Transfer-Encoding: chunked\r\n\r\n"));
  (void)chunked.Send("400\r\n" + std::string(1024, 'x') + "\r\n");
  EXPECT_EQ(chunked.Read().status, 413);
  EXPECT_EQ(host.Connect().Ask(Post("/echo", std::string(1000, 'x'))).status, 200);
}

TEST(Limits, AChunkHeaderWithoutEndIsTurnedDown) {
  const TestServer host(WithLimits({.header_bytes = 1000}));
  Client client = host.Connect();
  ASSERT_TRUE(client.Send(std::string(kUpload) + "Transfer-Encoding: chunked\r\n\r\n1;"));
  (void)client.Send(std::string(200 << 10, 'a'));
  EXPECT_EQ(client.Read().status, 400);
}

TEST(Limits, ASlowHeaderIs408) {
  const TestServer host(WithLimits({.header_time = 30ms}));
  Client client = host.Connect();
  ASSERT_TRUE(client.Send("GET /health HT"));
  EXPECT_EQ(client.Read().status, 408);
  EXPECT_TRUE(client.WaitForEnd());
}

TEST(Limits, ATrickleDoesNotHoldTheHeaderOpen) {
  const TestServer host(WithLimits({.header_time = 30ms}));
  Client client = host.Connect();
  ASSERT_TRUE(client.Send("GET /health HTTP/1.1\r\nHost: localhost\r\n"));
  std::jthread sender([&](const std::stop_token& stop) {
    while (!stop.stop_requested() && client.Send("A: b\r\n")) std::this_thread::sleep_for(1ms);
  });
  EXPECT_EQ(client.Read().status, 408);
}

TEST(Limits, ASlowBodyIs408) {
  const TestServer host(WithLimits({.body_time = 30ms}));
  Client client = host.Connect();
  ASSERT_TRUE(client.Send(std::string(kUpload) + "Content-Length: 10\r\n\r\nabc"));
  const Reply reply = client.Read();
  EXPECT_EQ(reply.status, 408);
  EXPECT_EQ(reply.headers.Get("Connection"), "close");
}

TEST(Limits, AWaitingConnectionIsClosedInSilence) {
  const TestServer host(WithLimits({.idle_time = 30ms}));
  Client fresh = host.Connect();
  EXPECT_EQ(fresh.ReadTo("x"), "");
  Client used = host.Connect();
  EXPECT_EQ(used.Ask(Get("/health")).status, 200);
  EXPECT_EQ(used.ReadTo("x"), "");
  EXPECT_TRUE(Eventually([&] { return host.server->num_connections() == 0; }));
}

TEST(Limits, WorkMayTakeLongerThanEveryTimeLimit) {
  TestServer host(
      {.limits = {.header_time = 20ms, .body_time = 20ms, .idle_time = 20ms, .write_time = 20ms}});
  Client client = host.Connect();
  ASSERT_TRUE(client.Send(Get("/park")));
  const Parking::Parked parked = host.parking.Take();
  std::this_thread::sleep_for(100ms);
  EXPECT_FALSE(parked.request.stop.stop_requested());
  ASSERT_TRUE(parked.writer.Send({.body = "at last"}));
  EXPECT_EQ(client.Read().body, "at last");
}

TEST(Limits, ConnectionsOpenedAndLeftShutNobodyOut) {
  const TestServer host(WithLimits({.connections = 50}));
  std::vector<Client> idle;
  for (int i = 0; i < 500; ++i) idle.push_back(host.Connect());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(host.Connect().Ask(Get("/health")).status, 200);
  EXPECT_TRUE(Eventually([&] { return host.server->num_connections() <= 50; }));
}

TEST(Limits, FiveHundredIdleConnectionsAreServedAllTheSame) {
  const TestServer host;
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
  std::vector<Client> clients;
  for (int i = 0; i < 500; ++i) clients.push_back(host.Connect());
  for (Client& client : clients) ASSERT_EQ(client.Ask(Get("/health")).status, 200);
  EXPECT_EQ(host.server->num_connections(), 500U);
}

// The end of an answer is still on its way when its connection counts as waiting.
TEST(Limits, MakingRoomCutsNoAnswerShort) {
  TestServer host(WithLimits({.connections = 1}));
  const std::string body(std::size_t{1} << 20, 'x');
  for (const char* lines : {"", "Connection: close\r\n"}) {
    Client slow = host.Connect();
    ASSERT_TRUE(slow.Send(Post("/echo", body + "!", lines)));
    ASSERT_NE(slow.ReadTo("\r\n\r\n"), "");
    ASSERT_TRUE(Eventually([&] { return host.Connect().Ask(Get("/health")).status == 200; }));
    EXPECT_EQ(slow.ReadTo("!").size(), body.size() + 1);
  }
}

TEST(Limits, WhenAllAreAtWorkANewOneIsToldToComeBack) {
  TestServer host(WithLimits({.connections = 2}));
  std::vector<Client> clients;
  std::vector<Parking::Parked> parked;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(host.Connect());
    ASSERT_TRUE(clients.back().Send(Get("/park")));
    parked.push_back(host.parking.Take());
  }
  Client third = host.Connect();
  const Reply reply = third.Read();
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.headers.Get("Retry-After"), "1");
  ASSERT_TRUE(parked[0].writer.Send({}));
  EXPECT_EQ(clients[0].Read().status, 200);
  EXPECT_EQ(host.Connect().Ask(Get("/health")).status, 200);
}

// Client and server share this process's descriptors, so both run out of them.
TEST(Limits, RunningOutOfDescriptorsIsSurvived) {
  const TestServer host;
  rlimit original{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &original), 0);
  rlimit tight = original;
  tight.rlim_cur = NumDescriptors() + 40;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  std::vector<Client> clients;
  for (int i = 0; i < 100; ++i) {
    Client client = host.Connect();
    if (client.connected()) clients.push_back(std::move(client));
  }
  EXPECT_GT(clients.size(), 0U);
  EXPECT_LT(clients.size(), 100U);
  clients.clear();
  EXPECT_TRUE(Eventually([&] { return host.Connect().Ask(Get("/health")).status == 200; }));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &original), 0);
  EXPECT_EQ(host.Connect().Ask(Get("/health")).status, 200);
}

TEST(Limits, NonsenseGetsAnAnswerOrAnEndAndTheServerLives) {
  const TestServer host;
  const std::vector<std::pair<std::string, int>> table = {
      {"\x16\x03\x01\x02\x05\x01\x01\xfc\x03\x03", 400},
      {std::string(100000, 'a'), 431},
      {std::string(4096, '\0'), 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"CONNECT a:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
      {"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: abc\r\n\r\n", 400},
      {"POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nhello\r\n",
       400},
  };
  for (const auto& [bytes, status] : table) {
    Client client = host.Connect();
    (void)client.Send(bytes);
    const Reply reply = client.Read();
    EXPECT_EQ(reply.status, status) << bytes.substr(0, 100);
    EXPECT_EQ(reply.headers.Get("Connection"), "close");
    EXPECT_TRUE(client.WaitForEnd());
  }
  EXPECT_EQ(host.Connect().Ask(Get("/health")).status, 200);
}

}  // namespace
}  // namespace vivace::http::testing
