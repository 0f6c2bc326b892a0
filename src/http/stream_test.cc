// Answers that come in pieces, and clients that leave or do not read.
#include <gtest/gtest.h>

#include "http/testing.h"

namespace vivace::http::testing {
namespace {

using namespace std::chrono_literals;

// Large enough that the sockets' buffers cannot hold it all.
constexpr std::size_t kMuch = std::size_t{64} << 20;

TEST(Stream, EventsArriveInChunksAndTheConnectionStays) {
  const TestServer host;
  Client client = host.Connect();
  for (int round = 0; round < 3; ++round) {
    const Reply reply = client.Ask(Get("/stream"));
    EXPECT_TRUE(reply.complete);
    EXPECT_EQ(reply.body, "data: one\n\ndata: two\n\ndata: three\n\n");
    EXPECT_EQ(reply.headers.Get("Content-Type"), "text/event-stream");
    EXPECT_EQ(reply.headers.Get("Cache-Control"), "no-cache");
    EXPECT_EQ(reply.headers.Get("X-Accel-Buffering"), "no");
    EXPECT_FALSE(reply.headers.Has("Content-Encoding"));
  }
}

TEST(Stream, OldClientsGetBytesUntilTheEnd) {
  const TestServer host;
  Client client = host.Connect();
  const Reply reply = client.Ask("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(reply.body, "data: one\n\ndata: two\n\ndata: three\n\n");
  EXPECT_FALSE(reply.headers.Has("Transfer-Encoding"));
}

TEST(Stream, EventsOfSeveralLines) {
  EXPECT_EQ(Event("a\nb", "delta"), "event: delta\ndata: a\ndata: b\n\n");
  EXPECT_EQ(Event(""), "data: \n\n");
}

TEST(Stream, TheHeadIsSentBeforeThereIsAnythingToSay) {
  TestServer host({.allowed_origins = {"https://chat.example"}});
  Client client = host.Connect();
  ASSERT_TRUE(client.Send(Get("/park", "Origin: https://chat.example\r\n")));
  const Parking::Parked parked = host.parking.Take();
  ASSERT_TRUE(parked.writer.Start(JsonLines()));
  const std::string head = client.ReadTo("\r\n\r\n");
  EXPECT_NE(head.find("Content-Type: application/x-ndjson"), std::string::npos);
  EXPECT_NE(head.find("Access-Control-Allow-Origin: https://chat.example"), std::string::npos);
  for (const char* line : {"{\"a\":1}\n", "{\"a\":2}\n"}) {
    ASSERT_TRUE(parked.writer.Write(line));
    EXPECT_EQ(client.ReadTo("\n"), "8\r\n");
    EXPECT_EQ(client.ReadTo("\n\r\n"), std::string(line) + "\r\n");
  }
  ASSERT_TRUE(parked.writer.End());
  EXPECT_EQ(client.ReadTo("0\r\n\r\n"), "0\r\n\r\n");
}

TEST(Stream, ASilentStreamIsPinged) {
  TestServer host(WithLimits({.ping_time = 5ms}));
  Client client = host.Connect();
  ASSERT_TRUE(client.Send(Get("/park")));
  const Parking::Parked parked = host.parking.Take();
  ASSERT_TRUE(parked.writer.Start({}));
  client.ReadTo("\r\n\r\n");
  for (int ping = 0; ping < 3; ++ping) EXPECT_EQ(client.ReadTo("\n\n\r\n"), "4\r\n: \n\n\r\n");
  ASSERT_TRUE(parked.writer.Write(Event("x")));
  EXPECT_NE(client.ReadTo("data: x\n\n\r\n"), "");
}

TEST(Stream, LinesOfJsonAreNeverPinged) {
  TestServer host(WithLimits({.ping_time = 1ms}));
  Client client = host.Connect();
  ASSERT_TRUE(client.Send(Get("/park")));
  const Parking::Parked parked = host.parking.Take();
  ASSERT_TRUE(parked.writer.Start(JsonLines()));
  std::this_thread::sleep_for(20ms);
  ASSERT_TRUE(parked.writer.Write("{}\n"));
  ASSERT_TRUE(parked.writer.End());
  EXPECT_EQ(client.Read().body, "{}\n");
}

TEST(Stream, AStreamsOwnPingTimeWins) {
  TestServer host(WithLimits({.ping_time = 60s}));
  Client client = host.Connect();
  ASSERT_TRUE(client.Send(Get("/park")));
  const Parking::Parked parked = host.parking.Take();
  ASSERT_TRUE(parked.writer.Start({.ping = ":\n\n", .ping_time = 1ms}));
  client.ReadTo("\r\n\r\n");
  EXPECT_EQ(client.ReadTo("\n\n\r\n"), "3\r\n:\n\n\r\n");
}

TEST(Stream, HeadEndsAStreamAtItsHead) {
  TestServer host;
  Client client = host.Connect();
  ASSERT_TRUE(client.Send("HEAD /park HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  const Parking::Parked parked = host.parking.Take();
  ASSERT_TRUE(parked.writer.Start({}));
  EXPECT_EQ(client.Read(true).status, 200);
  EXPECT_TRUE(StopComes(parked.request.stop));
  EXPECT_EQ(client.Ask(Get("/health")).status, 200);
}

TEST(Stream, AnAbandonedStreamIsSeenToBreakOff) {
  TestServer host;
  for (const char* version : {"1.0", "1.1"}) {
    Client client = host.Connect();
    ASSERT_TRUE(
        client.Send("GET /park HTTP/" + std::string(version) + "\r\nHost: localhost\r\n\r\n"));
    {
      const Parking::Parked parked = host.parking.Take();
      ASSERT_TRUE(parked.writer.Start({}));
      ASSERT_TRUE(parked.writer.Write("half"));
      client.ReadTo("half");
    }
    std::string rest = client.ReadTo("never");
    EXPECT_EQ(rest.find("0\r\n\r\n"), std::string::npos);
    EXPECT_EQ(errno, ECONNRESET) << version;
  }
}

// A client may leave at any moment of a request that somebody works on.
TEST(Stream, LeavingStopsTheWork) {
  TestServer host;
  for (const bool reset : {false, true}) {
    for (const char* stage : {"queued", "head", "events"}) {
      Client client = host.Connect();
      ASSERT_TRUE(client.Send(Get("/park")));
      const Parking::Parked parked = host.parking.Take();
      if (stage != std::string("queued")) {
        ASSERT_TRUE(parked.writer.Start({}));
        client.ReadTo("\r\n\r\n");
      }
      if (stage == std::string("events")) {
        ASSERT_TRUE(parked.writer.Write(Event("x")));
        client.ReadTo("x");
      }
      EXPECT_FALSE(parked.request.stop.stop_requested());
      reset ? client.Reset() : client.Close();
      EXPECT_TRUE(StopComes(parked.request.stop)) << stage;
      EXPECT_TRUE(Eventually([&] { return !parked.writer.Write("y"); }));
    }
  }
  EXPECT_TRUE(Eventually([&] { return host.server->num_connections() == 0; }));
}

TEST(Stream, LeavingIsNoticedBehindRequestsSentEarly) {
  TestServer host;
  Client client = host.Connect();
  // More than the server reads ahead, and little enough for its system to take the rest.
  std::string ahead;
  while (ahead.size() < (std::size_t{115} << 10)) ahead += Get("/health");
  ASSERT_TRUE(client.Send(Get("/park")));
  const Parking::Parked parked = host.parking.Take();
  ASSERT_TRUE(client.Send(ahead));
  client.Close();
  EXPECT_TRUE(StopComes(parked.request.stop));
}

TEST(Stream, LeavingBeforeTheBodyIsThereAsksNobody) {
  TestServer host;
  for (const char* part :
       {"", "P", "POST /park HTTP/1.1\r\n",
        "POST /park HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n",
        "POST /park HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nabc"}) {
    for (const bool reset : {false, true}) {
      Client client = host.Connect();
      ASSERT_TRUE(client.Send(part));
      reset ? client.Reset() : client.Close();
    }
  }
  EXPECT_TRUE(Eventually([&] { return host.server->num_connections() == 0; }));
}

// "printf ... | nc" closes its sending side at once.
TEST(Stream, AnAnswerThatIsReadyStillReachesAClientThatStoppedSending) {
  const TestServer host;
  Client client = host.Connect();
  ASSERT_TRUE(client.Send(Get("/health")));
  client.StopSending();
  EXPECT_EQ(client.Read().body, R"({"ok":true})");
}

TEST(Stream, AFullBufferCancelsTheStream) {
  TestServer host(WithLimits({.stream_bytes = 1 << 20}));
  Client client = host.Connect();
  ASSERT_TRUE(client.Send(Get("/park")));
  const Parking::Parked parked = host.parking.Take();
  ASSERT_TRUE(parked.writer.Start({}));
  const std::string piece(64 << 10, 'x');
  std::optional<Error> error;
  for (std::size_t sent = 0; sent < kMuch && !error; sent += piece.size()) {
    if (auto written = parked.writer.Write(piece); !written) error = written.error();
  }
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, ErrorKind::kExhausted);
  EXPECT_TRUE(StopComes(parked.request.stop));
  EXPECT_EQ(host.Connect().Ask(Get("/health")).status, 200);
}

TEST(Stream, AClientThatDoesNotReadIsGivenUp) {
  TestServer host({.limits = {.stream_bytes = kMuch * 2, .write_time = 50ms}});
  Client client = host.Connect();
  ASSERT_TRUE(client.Send(Get("/park")));
  const Parking::Parked parked = host.parking.Take();
  ASSERT_TRUE(parked.writer.Start({}));
  ASSERT_TRUE(parked.writer.Write(std::string(kMuch, 'x')));
  EXPECT_TRUE(StopComes(parked.request.stop));
  EXPECT_TRUE(Eventually([&] { return host.server->num_connections() == 0; }));
}

TEST(Stream, ALargeAnswerReachesASlowClientWhole) {
  TestServer host;
  Client client = host.Connect();
  ASSERT_TRUE(client.Send(Get("/park")));
  ASSERT_TRUE(host.parking.Take().writer.Send({.body = std::string(kMuch, 'x')}));
  std::this_thread::sleep_for(20ms);
  const Reply reply = client.Read();
  EXPECT_TRUE(reply.complete);
  EXPECT_EQ(reply.body.size(), kMuch);
}

// Whatever way a stream ends, it leaves no descriptor.
TEST(Stream, ThousandsOfStreamsLeaveNothing) {
  TestServer host;
  const std::size_t before = NumDescriptors();
  for (int round = 0; round < 2000; ++round) {
    Client client = host.Connect();
    if (round % 2 == 0) {
      EXPECT_TRUE(client.Ask(Get("/stream")).complete);
    } else {
      ASSERT_TRUE(client.Send(Get("/park")));
      const Parking::Parked parked = host.parking.Take();
      ASSERT_TRUE(parked.writer.Start({}));
      client.ReadTo("\r\n\r\n");
      round % 4 == 1 ? client.Close() : client.Reset();
    }
  }
  EXPECT_TRUE(Eventually([&] { return host.server->num_connections() == 0; }));
  EXPECT_EQ(NumDescriptors(), before);
}

// Writers, clients and the end of the server all at once: for the thread sanitizer.
TEST(Stream, ManyAtOnceWhileTheServerStops) {
  TestServer host;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 20; ++round) {
        Client client = host.Connect();
        if (!client.connected() || !client.Send(Get("/park"))) return;
        if (thread % 2 == 0) client.ReadTo("data: 50");
      }
    });
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        const Parking::Parked parked = host.parking.Take();
        if (!parked.writer.Start({})) continue;
        for (int i = 0; i < 100 && parked.writer.Write(Event(std::to_string(i))); ++i) {
        }
        (void)parked.writer.End();
      }
    });
  }
  threads.clear();
  host.server->Stop();
}

}  // namespace
}  // namespace vivace::http::testing
