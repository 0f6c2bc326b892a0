// A server from outside: whole answers over one connection after another.
#include "http/server.h"

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "http/testing.h"

namespace vivace::http::testing {
namespace {

TEST(Server, AnswersAndKeepsTheConnection) {
  const TestServer host;
  Client client = host.Connect();
  for (int round = 0; round < 3; ++round) {
    const Reply reply = client.Ask(Get("/health"));
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, R"({"ok":true})");
    EXPECT_EQ(reply.headers.Get("Content-Type"), "application/json");
    EXPECT_FALSE(reply.headers.Has("Connection"));
  }
  EXPECT_EQ(client.Ask(Get("/items/a%20b?x=1")).body, "a b");
  EXPECT_EQ(client.Ask(Post("/echo", std::string(100000, 'x'))).body, std::string(100000, 'x'));
  EXPECT_EQ(client.Ask(Get("/none")).status, 404);
  EXPECT_EQ(client.Ask(Get("/echo")).headers.Get("Allow"), "OPTIONS, POST");
  EXPECT_EQ(host.server->num_connections(), 1U);
}

TEST(Server, ConnectionCloseIsObeyed) {
  const TestServer host;
  Client client = host.Connect();
  const Reply reply = client.Ask(Get("/health", "Connection: close\r\n"));
  EXPECT_EQ(reply.headers.Get("Connection"), "close");
  EXPECT_TRUE(client.WaitForEnd());
}

TEST(Server, OldClientsClose) {
  const TestServer host;
  Client client = host.Connect();
  EXPECT_EQ(client.Ask("GET /health HTTP/1.0\r\n\r\n").body, R"({"ok":true})");
  EXPECT_TRUE(client.WaitForEnd());
  Client keeping = host.Connect();
  for (int round = 0; round < 2; ++round) {
    const Reply reply = keeping.Ask("GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.headers.Get("Connection"), "keep-alive");
  }
}

TEST(Server, RequestsInOnePieceAreAnsweredInOrder) {
  TestServer host;
  Client client = host.Connect();
  std::string all = "\r\n" + Get("/items/1") + Get("/park");
  for (int i = 3; i < 200; ++i) all += Post("/echo", std::to_string(i) + std::string(1000, ' '));
  ASSERT_TRUE(client.Send(all));
  EXPECT_EQ(client.Read().body, "1");
  ASSERT_TRUE(host.parking.Take().writer.Send({.body = "2"}));
  EXPECT_EQ(client.Read().body, "2");
  for (int i = 3; i < 200; ++i)
    EXPECT_EQ(client.Read().body, std::to_string(i) + std::string(1000, ' '));
}

TEST(Server, HeadHasTheHeadersOfGetOnly) {
  const TestServer host;
  Client client = host.Connect();
  ASSERT_TRUE(client.Send("HEAD /health HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  EXPECT_EQ(client.Read(true).headers.Get("Content-Length"), "11");
  ASSERT_TRUE(client.Send("HEAD /none HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  EXPECT_EQ(client.Read(true).status, 404);
  EXPECT_EQ(client.Ask(Get("/health")).body, R"({"ok":true})");
}

TEST(Server, ChunkedBodiesAndContinue) {
  const TestServer host;
  Client client = host.Connect();
  ASSERT_TRUE(
      client.Send("POST /echo HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n"));
  EXPECT_EQ(client.Read().status, 100);
  EXPECT_EQ(client.Ask("4\r\nabcd\r\n2\r\nef\r\n0\r\n\r\n").body, "abcdef");
}

TEST(Server, NobodyIsToldToContinueIntoARefusal) {
  const TestServer host;
  Client client = host.Connect();
  const Reply reply = client.Ask(
      "POST /none HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
      "Content-Length: 5\r\n\r\n");
  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(reply.headers.Get("Connection"), "close");
}

TEST(Server, RequestIdsAreKeptWhenSane) {
  const TestServer host;
  Client client = host.Connect();
  EXPECT_EQ(client.Ask(Get("/health", "X-Request-Id: abc-1\r\n")).headers.Get("X-Request-Id"),
            "abc-1");
  const Reply own = client.Ask(Get("/health", "X-Request-Id: <script>\r\n"));
  EXPECT_EQ(own.headers.Get("X-Request-Id").size(), 24U);
  const Reply next = client.Ask(Get("/none"));
  EXPECT_NE(next.headers.Get("X-Request-Id"), own.headers.Get("X-Request-Id"));
}

TEST(Server, NoHandlerCanWriteAHeaderOfItsOwnShape) {
  Router router;
  router.Add("GET", "/bad", [](const Request&, const ResponseWriter& writer) {
    Response response;
    response.headers.Add("X-Name", "a\r\nX-Injected: 1\r\n\r\n<p>");
    response.headers.Add("X Bad\r\n", "b");
    response.headers.Add("Content-Length", "999");
    (void)writer.Send(response);
  });
  const TestServer host({.default_headers = {{"X-Name", "default"}, {"Server", "test"}}}, router);
  const Reply reply = host.Connect().Ask(Get("/bad"));
  EXPECT_EQ(reply.headers.Get("X-Name"), "a  X-Injected: 1    <p>");
  EXPECT_FALSE(reply.headers.Has("X-Injected"));
  EXPECT_EQ(reply.headers.Get("Content-Length"), "0");
  EXPECT_EQ(reply.headers.Get("Server"), "test");
}

TEST(Server, AnswersMayComeFromAnotherThread) {
  TestServer host;
  Client client = host.Connect();
  ASSERT_TRUE(client.Send(Post("/park", "work")));
  std::jthread([parked = host.parking.Take()] {
    EXPECT_EQ(parked.request.body, "work");
    EXPECT_TRUE(parked.request.peer.starts_with("127.0.0.1:"));
    EXPECT_TRUE(parked.writer.Send({.status = 201, .body = "done"}));
    EXPECT_FALSE(parked.request.stop.stop_requested());
  }).join();
  EXPECT_EQ(client.Read().body, "done");
}

TEST(Server, AForgottenRequestGetsAnError) {
  TestServer host;
  Client client = host.Connect();
  ASSERT_TRUE(client.Send(Get("/park")));
  host.parking.Take();
  const Reply reply = client.Read();
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(client.Ask(Get("/health")).status, 200);
}

// Health is answered while every worker is busy and thousands of requests wait.
TEST(Server, ShortAnswersDoNotWaitForLongWork) {
  TestServer host;
  std::vector<Client> waiting;
  std::vector<Parking::Parked> parked;
  for (int i = 0; i < 50; ++i) {
    waiting.push_back(host.Connect());
    ASSERT_TRUE(waiting.back().Send(Get("/park")));
    parked.push_back(host.parking.Take());
  }
  EXPECT_EQ(host.Connect().Ask(Get("/health")).status, 200);
}

TEST(Server, UnixSocketsWorkAndLeaveNothing) {
  const std::string path = ::testing::TempDir() + "vivace-" + std::to_string(::getpid()) + ".sock";
  struct stat facts {};
  for (int round = 0; round < 2; ++round) {
    TestServer host({.listen = {{.unix_path = path}}});
    EXPECT_EQ(host.server->addresses().front(), "unix:" + path);
    Client client = Client::Unix(path);
    ASSERT_TRUE(client.Send(Get("/park")));
    const Parking::Parked parked = host.parking.Take();
    EXPECT_EQ(parked.request.peer, "unix");
    ASSERT_TRUE(parked.writer.Send({}));
    EXPECT_EQ(client.Read().status, 200);
    const auto second = Server::Start({.listen = {{.unix_path = path}}}, {});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().message, "cannot listen on " + path + ": a server is there");
    host.server->Stop();
    EXPECT_NE(::stat(path.c_str(), &facts), 0);
  }
}

TEST(Server, EveryAddressOfANameAndBothFamilies) {
  const TestServer host({.listen = {{.host = "localhost"}}});
  EXPECT_EQ(Client::Tcp(host.server->port()).Ask(Get("/health")).status, 200);
  const auto both = Server::Start({.listen = {{.host = "::", .port = 0}}}, {});
  if (!both) GTEST_SKIP() << "no IPv6 here: " << both.error().message;
  EXPECT_EQ(Client::Tcp((*both)->port(), "::1").Ask(Get("/x")).status, 404);
  EXPECT_EQ(Client::Tcp((*both)->port()).Ask(Get("/x")).status, 404);
}

TEST(Server, WhatCannotBeIsAnErrorThatSaysSo) {
  const TestServer host;
  const std::uint16_t taken = host.server->port();
  const auto message = [](ServerOptions options) {
    const auto server = Server::Start(std::move(options), {});
    return server ? "" : server.error().message;
  };
  EXPECT_EQ(message({.listen = {{.port = taken}}}),
            "cannot listen on 127.0.0.1:" + std::to_string(taken) + ": Address already in use");
  EXPECT_NE(message({.listen = {{.host = "256.1.1.1"}}}), "");
  EXPECT_NE(message({.listen = {{.unix_path = "/nonexistent/folder/socket"}}}), "");
  EXPECT_NE(message({.listen = {{.unix_path = std::string(200, 'x')}}}), "");
  EXPECT_EQ(message({.listen = {}, .tls = TlsFiles{"/nonexistent.pem", "/nonexistent.key"}}),
            "TLS certificate /nonexistent.pem: No such file or directory");
  EXPECT_EQ(message({.listen = {}, .limits = {.connections = 0}}),
            "number of connections 0, the range is 1 to 1000000");
  for (const char* key : {"", "a b", "a\n", "\xc3\xa4"})
    EXPECT_EQ(message({.listen = {}, .api_keys = {"good", key}}),
              "an API key is empty or has characters other than printable ASCII");
}

TEST(Server, TheLogHasOneEntryPerRequest) {
  struct Entry {
    std::string id, method, path;
    int status;
    std::uint64_t bytes;
  };
  std::mutex mutex;
  std::vector<Entry> entries;
  const auto size = [&] {
    const std::scoped_lock lock(mutex);
    return entries.size();
  };
  TestServer host({.access_log = [&](const AccessEntry& entry) {
    EXPECT_GE(entry.duration_ms, entry.first_byte_ms);
    const std::scoped_lock lock(mutex);
    entries.push_back({std::string(entry.id), std::string(entry.method), std::string(entry.path),
                       entry.status, entry.bytes});
  }});
  Client client = host.Connect();
  client.Ask(Get("/health?x=1", "X-Request-Id: one\r\n"));
  client.Ask(Get("/stream"));
  ASSERT_TRUE(client.Send(Get("/park")));
  const Parking::Parked parked = host.parking.Take();
  client.Close();
  ASSERT_TRUE(Eventually([&] { return size() == 3; }));
  host.server->Stop();
  EXPECT_EQ(entries[0].id, "one");
  EXPECT_EQ(entries[0].path, "/health");
  EXPECT_GT(entries[0].bytes, 11U);
  EXPECT_EQ(entries[1].status, 200);
  EXPECT_EQ(entries[2].status, 499);
  EXPECT_EQ(entries[2].bytes, 0U);
}

TEST(Server, DrainFinishesWhatRunsAndNothingElse) {
  TestServer host;
  Client idle = host.Connect();
  idle.Ask(Get("/health"));
  Client running = host.Connect();
  ASSERT_TRUE(running.Send(Get("/park") + Get("/health")));
  const Parking::Parked parked = host.parking.Take();
  host.server->Drain();
  EXPECT_TRUE(idle.WaitForEnd());
  EXPECT_FALSE(host.Connect().connected());
  EXPECT_FALSE(host.server->WaitUntilDrained(std::chrono::milliseconds(0)));
  EXPECT_FALSE(parked.request.stop.stop_requested());
  ASSERT_TRUE(parked.writer.Send({.body = "late"}));
  const Reply reply = running.Read();
  EXPECT_EQ(reply.body, "late");
  EXPECT_EQ(running.Read().status, 0);
  running.Close();
  EXPECT_TRUE(host.server->WaitUntilDrained(std::chrono::seconds(30)));
}

TEST(Server, StopDropsEverythingAndWritersOutliveIt) {
  TestServer host;
  Client client = host.Connect();
  ASSERT_TRUE(client.Send(Get("/park")));
  const Parking::Parked parked = host.parking.Take();
  Client half = host.Connect();
  ASSERT_TRUE(half.Send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nabc"));
  host.server->Stop();
  EXPECT_TRUE(parked.request.stop.stop_requested());
  EXPECT_EQ(parked.writer.Send({}).error().kind, ErrorKind::kCancelled);
  EXPECT_TRUE(client.WaitForEnd());
  host.server.reset();
  EXPECT_EQ(parked.writer.Send({}).error().kind, ErrorKind::kCancelled);
}

}  // namespace
}  // namespace vivace::http::testing
