#include "measure/serve_bench.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "gtest/gtest.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "http/server.h"
#include "measure/serve_batch.h"

namespace vivace {
namespace {

// A chat server of canned answers on a free port.
class CannedServer {
 public:
  explicit CannedServer(http::Handler chat = {}, const std::string& key = "") {
    http::Router router;
    router.Add("GET", "/v1/models", [](const http::Request&, const http::ResponseWriter& writer) {
      (void)writer.Send({.body = R"({"data":[{"id":"canned"}]})"});
    });
    router.Add("POST", "/v1/chat/completions", chat ? std::move(chat) : Remember());
    http::ServerOptions options;
    options.listen[0].port = 0;
    if (!key.empty()) options.api_keys = {key};
    server_ = *http::Server::Start(std::move(options), std::move(router));
  }

  std::string url() const { return fmt::format("http://127.0.0.1:{}", server_->port()); }
  std::vector<nlohmann::json> bodies() {
    const std::lock_guard lock(mutex_);
    return bodies_;
  }

  static std::string Text(std::string_view text) {
    return http::Event(nlohmann::json({{"choices", {{{"delta", {{"content", text}}}}}}}).dump());
  }

 private:
  // Answers "Yes." in two texts and keeps the request.
  http::Handler Remember() {
    return [this](const http::Request& request, const http::ResponseWriter& writer) {
      {
        const std::lock_guard lock(mutex_);
        bodies_.push_back(nlohmann::json::parse(request.body));
      }
      (void)writer.Start({});
      (void)writer.Write(Text("Ye") + Text("s."));
      (void)writer.Write(http::Event(R"({"choices":[],"usage":{"completion_tokens":4}})"));
      (void)writer.Write(http::Event("[DONE]"));
      (void)writer.End();
    };
  }

  std::mutex mutex_;
  std::vector<nlohmann::json> bodies_;
  std::unique_ptr<http::Server> server_;
};

ServeBenchOptions Options(const std::vector<std::string>& urls,
                          const std::vector<std::string>& workloads) {
  ServeBenchOptions options;
  for (const std::string& url : urls) options.targets.push_back(*ParseServeTarget(url));
  options.workloads = *WorkloadsOf(workloads);
  options.rounds = 2;
  return options;
}

Result<ServeBenchResult> Measure(const ServeBenchOptions& options) {
  return RunServeBench(options, {}, [](double, std::string_view) {});
}

TEST(ServeTargetTest, AddressesAreReadOrRefused) {
  const auto plain = ParseServeTarget("http://127.0.0.1:8080/v1/");
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->url, "http://127.0.0.1:8080");
  EXPECT_EQ(plain->name, "127.0.0.1:8080");
  const auto named = ParseServeTarget("ours=https://host/base");
  ASSERT_TRUE(named.has_value());
  EXPECT_EQ(named->name, "ours");
  EXPECT_EQ(named->url, "https://host/base");
  const std::map<std::string, std::string> wrong = {
      {"localhost:8080", "http:// or https:// is missing"},
      {"ftp://host", "the scheme is ftp"},
      {"http://", "no address"},
      {"http://host:99999", "no address"},
      {"", "is missing"}};
  for (const auto& [text, part] : wrong) {
    const auto target = ParseServeTarget(text);
    ASSERT_FALSE(target.has_value()) << text;
    EXPECT_NE(target.error().message.find(part), std::string::npos) << target.error().message;
  }
}

TEST(ServeBenchTest, ServersGetTheSameTextsInTurns) {
  CannedServer one;
  CannedServer two;
  ServeBenchOptions options = Options({one.url(), two.url()}, {"chat-short", "chat-multi-turn"});
  options.concurrency = 2;
  const auto result = Measure(options);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  // Warm-up and two rounds of two clients, with one turn and with four.
  EXPECT_EQ(one.bodies().size(), 30U);
  std::multiset<std::string> texts[2];
  for (const auto& body : one.bodies()) texts[0].insert(body["messages"].dump());
  for (const auto& body : two.bodies()) texts[1].insert(body["messages"].dump());
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(one.bodies()[0]["model"], "canned");
  EXPECT_EQ(one.bodies()[0]["temperature"], 0);
  for (const ServeTargetResult& target : result->targets) {
    ASSERT_EQ(target.samples.size(), 30U);
    EXPECT_GT(target.batch_s[0], 0);
    for (const ServeSample& sample : target.samples) {
      EXPECT_EQ(sample.answer.error, "");
      EXPECT_EQ(sample.answer.tokens, 4);
      EXPECT_GT(sample.answer.first_ms, 0);
      EXPECT_GE(sample.answer.last_ms, sample.answer.first_ms);
    }
  }
}

TEST(ServeBenchTest, AFollowingTurnHasTheAnswersBeforeIt) {
  CannedServer server;
  ServeBenchOptions options = Options({server.url()}, {"chat-multi-turn"});
  options.rounds = 1;
  options.max_tokens = 9;
  ASSERT_TRUE(Measure(options).has_value());
  const auto body = server.bodies()[3];
  EXPECT_EQ(body["max_tokens"], 9);
  const auto& messages = body["messages"];
  ASSERT_EQ(messages.size(), 8U);  // system, and four questions with three answers between
  EXPECT_EQ(messages[2]["content"], "Yes.");
  EXPECT_EQ(messages[7]["role"], "user");
}

TEST(ServeBenchTest, AnOpenLoopDoesNotWaitForAnswers) {
  ServeBenchOptions fifty;
  fifty.rate = 100;
  fifty.requests = 50;
  const auto due = DueTimes(fifty, 0);
  ASSERT_EQ(due.size(), 50U);
  EXPECT_EQ(due[0], 0);
  EXPECT_TRUE(std::is_sorted(due.begin(), due.end()));
  EXPECT_NEAR(due.back(), 490, 300);
  CannedServer server;
  ServeBenchOptions options = Options({server.url()}, {"chat-short"});
  options.rate = 200;
  options.requests = 10;
  const auto result = Measure(options);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->targets[0].samples.size(), 30U);
}

TEST(ServeBenchTest, SomeFailuresAreCounted) {
  std::atomic<int> number = 0;
  CannedServer server([&](const http::Request&, const http::ResponseWriter& writer) {
    if (number++ % 2 == 1) {
      (void)writer.Send({.status = 503, .body = R"({"error":{"message":"the queue is full"}})"});
      return;
    }
    (void)writer.Start({});
    (void)writer.Write(CannedServer::Text("Yes"));
    (void)writer.End();
  });
  ServeBenchOptions options = Options({server.url()}, {"chat-short"});
  options.requests = 4;
  const auto result = Measure(options);
  ASSERT_TRUE(result.has_value());
  int failed = 0;
  for (const ServeSample& sample : result->targets[0].samples) {
    if (sample.answer.error.empty()) continue;
    EXPECT_EQ(sample.answer.error, "HTTP 503: the queue is full");
    ++failed;
  }
  EXPECT_EQ(failed, 6);
}

TEST(ServeBenchTest, AServerThatNeverAnswersRightIsAnError) {
  const auto problem = [](http::Handler handler) {
    const CannedServer server(std::move(handler));
    const auto result = Measure(Options({server.url()}, {"chat-short"}));
    return result ? std::string() : result.error().message;
  };
  const auto with = [](http::Response response) {
    return [response](const http::Request&, const http::ResponseWriter& writer) {
      (void)writer.Send(response);
    };
  };
  EXPECT_NE(problem(with({.status = 404, .body = "{\"error\":\"no such model\"}"}))
                .find("no request succeeds: HTTP 404: no such model"),
            std::string::npos);
  EXPECT_NE(problem(with({.body = "{}"})).find("no event stream"), std::string::npos);
  EXPECT_NE(problem([](const http::Request&, const http::ResponseWriter& writer) {
              (void)writer.Start({});
              (void)writer.End();
            }).find("without any text"),
            std::string::npos);
  // The writer is dropped in the middle of the stream; had nothing been sent by then, it is a 500.
  const std::string broken = problem([](const http::Request&, const http::ResponseWriter& writer) {
    (void)writer.Start({});
    (void)writer.Write(CannedServer::Text("Ye"));
  });
  const auto says = [&](std::string_view part) { return broken.find(part) != std::string::npos; };
  EXPECT_TRUE(says("broke in the middle") || says("HTTP 500")) << broken;
}

TEST(ServeBenchTest, NothingThereIsAnErrorAtOnce) {
  std::string url;
  {
    const CannedServer gone;
    url = gone.url();
  }
  const auto result = Measure(Options({"gone=" + url}, {"chat-short"}));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, ErrorKind::kIo);
  EXPECT_EQ(result.error().message,
            "gone (" + url + "): nothing answers there (connection refused or not reachable)");
}

TEST(ServeBenchTest, KeysAreSentAndMissed) {
  CannedServer server({}, "secret");
  ServeBenchOptions options = Options({server.url()}, {"chat-short"});
  const auto refused = Measure(options);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("HTTP 401"), std::string::npos);
  options.api_key = "secret";
  EXPECT_TRUE(Measure(options).has_value());
}

TEST(ServeBenchTest, AStopEndsItWithWhatThereIs) {
  CannedServer server;
  std::stop_source stop;
  int parts = 0;
  const auto result = RunServeBench(Options({server.url()}, {"chat-short"}), stop.get_token(),
                                    [&](double, std::string_view) {
                                      if (++parts == 2) stop.request_stop();
                                    });
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(result->interrupted);
  EXPECT_EQ(result->targets[0].samples.size(), 1U);
}

}  // namespace
}  // namespace vivace
