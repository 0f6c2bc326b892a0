// Who is let in: keys, origins, unknown paths, preflights.
#include "http/gate.h"

#include <gtest/gtest.h>

namespace vivace::http {
namespace {

struct Asked {
  std::string method = "GET";
  std::string target = "/health";
  Headers headers = {{"Host", "localhost:8080"}};
  bool loopback = true;
};

class GateTest : public ::testing::Test {
 protected:
  GateTest() {
    const Handler nothing = [](const Request&, const ResponseWriter&) {};
    router_.Add("GET", "/health", nothing);
    router_.Add("GET", "/v1/models", nothing);
    router_.Add("POST", "/v1/chat/completions", nothing);
    router_.Add("GET", "/assets/*", nothing);
  }

  Gate::Admission Admit(Asked asked) {
    const Gate gate(options_, router_);
    RequestHead head;
    head.method = asked.method;
    head.target = *ParseTarget(asked.target);
    head.headers = std::move(asked.headers);
    return gate.Admit(head, std::nullopt, asked.loopback);
  }
  // 200 stands for: a handler is asked.
  int Status(Asked asked) {
    const Gate::Admission admission = Admit(std::move(asked));
    return admission.answer ? admission.answer->status : 200;
  }

  ServerOptions options_;
  Router router_;
};

TEST_F(GateTest, FindsHandlersOrSaysWhyNot) {
  EXPECT_EQ(Status({}), 200);
  EXPECT_EQ(Status({.method = "HEAD"}), 200);
  EXPECT_EQ(Status({.target = "/none"}), 404);
  EXPECT_EQ(Status({.method = "BREW"}), 405);
  EXPECT_EQ(Admit({.method = "PUT", .target = "/v1/chat/completions"}).answer->headers.Get("Allow"),
            "OPTIONS, POST");
}

TEST_F(GateTest, EveryKeyCountsInEveryHeaderThatClientsUse) {
  options_.api_keys = {"first", "second"};
  const auto with = [](std::string name, std::string value) {
    return Asked{.target = "/v1/models",
                 .headers = {{"Host", "localhost"}, {std::move(name), std::move(value)}}};
  };
  EXPECT_EQ(Status({.target = "/v1/models"}), 401);
  EXPECT_EQ(Status(with("Authorization", "Bearer first")), 200);
  EXPECT_EQ(Status(with("authorization", "bearer  second ")), 200);
  EXPECT_EQ(Status(with("X-Api-Key", "second")), 200);
  EXPECT_EQ(Status(with("x-api-key", "first")), 200);
  for (const char* wrong : {"Bearer third", "Bearer ", "Bearer", "first", "Basic first",
                            "Bearer first second", "Bearer firs", ""})
    EXPECT_EQ(Status(with("Authorization", wrong)), 401) << wrong;
  EXPECT_EQ(Admit({.target = "/v1/models"}).answer->headers.Get("WWW-Authenticate"), "Bearer");
}

TEST_F(GateTest, PublicPathsNeedNoKeyAndUnknownOnesAreNotGivenAway) {
  options_.api_keys = {"k"};
  options_.public_paths = {"/health", "/assets/*"};
  EXPECT_EQ(Status({.target = "/health"}), 200);
  EXPECT_EQ(Status({.target = "/assets/a.js"}), 200);
  EXPECT_EQ(Status({.target = "/healthy"}), 401);
  EXPECT_EQ(Status({.target = "/none"}), 401);
}

// A path is public as it is routed: decoding happens once, before both.
TEST_F(GateTest, NoSpellingOfAPathGoesAroundTheKey) {
  options_.api_keys = {"k"};
  options_.public_paths = {"/assets/*"};
  EXPECT_EQ(Status({.target = "/v1/%6dodels"}), 401);
  EXPECT_EQ(Status({.target = "//v1/models"}), 401);
  // Below /assets, whatever the dots say: segments are never resolved.
  EXPECT_EQ(Admit({.target = "/assets/../v1/models"}).segments.Find("*"), "../v1/models");
}

TEST_F(GateTest, PagesOfThisServerAndThisMachineMayCall) {
  for (const char* origin : {"http://localhost:8080", "http://localhost:3000", "http://127.0.0.1",
                             "https://localhost", "http://app.localhost:5173", "http://[::1]:99"})
    EXPECT_EQ(Status({.headers = {{"Host", "localhost:8080"}, {"Origin", origin}}}), 200) << origin;
  EXPECT_EQ(Status({.headers = {{"Host", "box.example:80"}, {"Origin", "http://box.example:80"}},
                    .loopback = false}),
            200);
}

TEST_F(GateTest, PagesOfOtherOriginsAreTurnedAway) {
  for (const char* origin :
       {"https://evil.example", "null", "http://localhost.evil.example", "",
        "http://localhost:8080.evil.example", "http://evil.example/localhost"}) {
    const Asked asked{.method = "POST",
                      .target = "/v1/chat/completions",
                      .headers = {{"Host", "localhost:8080"}, {"Origin", origin}}};
    EXPECT_EQ(Status(asked), 403) << origin;
    EXPECT_FALSE(Admit(asked).headers.Has("Access-Control-Allow-Origin")) << origin;
  }
}

TEST_F(GateTest, AllowedOriginsAreNamedInEveryAnswer) {
  options_.api_keys = {"k"};
  options_.allowed_origins = {"https://chat.example"};
  const Headers headers = {{"Host", "localhost"}, {"Origin", "https://chat.example"}};
  for (const char* target : {"/health", "/none", "/v1/chat/completions"}) {
    const Gate::Admission admission = Admit({.target = target, .headers = headers});
    EXPECT_EQ(admission.headers.Get("Access-Control-Allow-Origin"), "https://chat.example");
    EXPECT_EQ(admission.headers.Get("Vary"), "Origin");
  }
  options_.allowed_origins = {"*"};
  const Gate::Admission any =
      Admit({.headers = {{"Host", "localhost"}, {"Origin", "https://other.example"}}});
  EXPECT_EQ(any.headers.Get("Access-Control-Allow-Origin"), "*");
}

TEST_F(GateTest, APreflightNeedsNoKeyAndMaySendOne) {
  options_.api_keys = {"k"};
  options_.allowed_origins = {"https://chat.example"};
  const Gate::Admission admission =
      Admit({.method = "OPTIONS",
             .target = "/v1/chat/completions",
             .headers = {{"Host", "localhost"},
                         {"Origin", "https://chat.example"},
                         {"Access-Control-Request-Method", "POST"},
                         {"Access-Control-Request-Headers", "authorization,x-stainless-os"}}});
  ASSERT_TRUE(admission.answer);
  EXPECT_EQ(admission.answer->status, 204);
  EXPECT_EQ(admission.headers.Get("Access-Control-Allow-Origin"), "https://chat.example");
  EXPECT_EQ(admission.answer->headers.Get("Access-Control-Allow-Methods"), "OPTIONS, POST");
  EXPECT_EQ(admission.answer->headers.Get("Access-Control-Allow-Headers"),
            "authorization,x-stainless-os");
}

TEST_F(GateTest, OptionsWithoutAnOriginListsTheMethods) {
  EXPECT_EQ(Admit({.method = "OPTIONS"}).answer->headers.Get("Allow"), "GET, HEAD, OPTIONS");
  EXPECT_EQ(Status({.method = "OPTIONS", .target = "/none"}), 404);
  EXPECT_EQ(Status({.method = "OPTIONS", .target = "*"}), 204);
}

// A page can let its own name point here, and then looks as if it were ours.
TEST_F(GateTest, OnLoopbackTheHostMustNameThisMachine) {
  const Headers rebound = {{"Host", "evil.example:8080"}, {"Origin", "http://evil.example:8080"}};
  EXPECT_EQ(Status({.headers = rebound}), 403);
  EXPECT_EQ(Status({.headers = {{"Host", "evil.example"}}}), 403);
  EXPECT_EQ(Status({.headers = rebound, .loopback = false}), 200);
  EXPECT_EQ(Status({.headers = {{"Host", "192.0.2.7:8080"}}}), 200);
  EXPECT_EQ(Status({.headers = {{"Host", "[::1]:8080"}}}), 200);
  options_.allowed_hosts = {"evil.example"};
  EXPECT_EQ(Status({.headers = rebound}), 200);
  options_.allowed_hosts = {};
  options_.allowed_origins = {"https://evil.example"};
  EXPECT_EQ(Status({.headers = {{"Host", "evil.example"}}}), 200);
  options_.allowed_origins = {};
  options_.api_keys = {"k"};
  options_.public_paths = {"/health"};
  EXPECT_EQ(Status({.headers = {{"Host", "evil.example"}}}), 200);
}

TEST_F(GateTest, TheHookShapesErrorsButNotTheirStatus) {
  options_.error_body = [](const ErrorFacts& facts) {
    return Response{.status = 200,
                    .content_type = "text/plain",
                    .body = std::string(facts.path) + "|" + std::string(facts.method) + "|" +
                            std::to_string(facts.status)};
  };
  const Gate::Admission admission = Admit({.method = "PUT"});
  EXPECT_EQ(admission.answer->status, 405);
  EXPECT_EQ(admission.answer->body, "/health|PUT|405");
  EXPECT_EQ(admission.answer->headers.Get("Allow"), "GET, HEAD, OPTIONS");
}

TEST_F(GateTest, AnErrorsTextIsAlwaysWholeJson) {
  const Gate gate(options_, router_);
  EXPECT_EQ(gate.ErrorFor({}, 400, "a \"quote\"").body,
            R"({"error":{"code":400,"message":"a \"quote\""}})");
  EXPECT_EQ(gate.ErrorFor({}, 400, "\xff").body,
            "{\"error\":{\"code\":400,\"message\":\"\xEF\xBF\xBD\"}}");
}

}  // namespace
}  // namespace vivace::http
