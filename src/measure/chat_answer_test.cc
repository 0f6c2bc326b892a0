#include "measure/chat_answer.h"

#include "gtest/gtest.h"

namespace vivace {
namespace {

const HttpCall::Head kStream = {.status = 200, .content_type = "text/event-stream; charset=utf-8"};

struct Piece {
  double ms;
  std::string bytes;
};

ChatAnswer Read(const HttpCall::Head& head, const std::vector<Piece>& pieces,
                const std::string& problem = "") {
  AnswerReader reader;
  for (const Piece& piece : pieces) reader.TakeBytes(head, piece.bytes, piece.ms);
  reader.TakeEnd({.head = head, .problem = problem});
  return reader.answer();
}

std::string Delta(const std::string& delta) {
  return R"(data: {"choices":[{"index":0,"delta":)" + delta + "}]}\n\n";
}

TEST(ChatAnswerTest, TimesAreThoseOfTexts) {
  const ChatAnswer answer =
      Read(kStream, {{5, Delta(R"({"role":"assistant","content":null})")},
                     {6, Delta(R"({"content":""})")},
                     {10, Delta(R"({"content":"Hel"})")},
                     {30, Delta(R"({"content":"lo"})") + Delta(R"({"content":"!"})")},
                     {50,
                      "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,"
                      "\"completion_tokens\":5}}\n\ndata: [DONE]\n\n"}});
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(answer.text, "Hello!");
  EXPECT_EQ(answer.first_ms, 10);
  EXPECT_EQ(answer.last_ms, 30);
  EXPECT_EQ(answer.gaps_ms, (std::vector<double>{20, 0}));
  EXPECT_EQ(answer.chunks, 3);
  EXPECT_EQ(answer.tokens, 5);
  EXPECT_EQ(answer.prompt_tokens, 9);
  EXPECT_EQ(answer.counted, TokenCount::kUsage);
  EXPECT_DOUBLE_EQ(answer.rate(), 200);
}

TEST(ChatAnswerTest, TokensAreCountedByWhatThereIs) {
  const std::string text = Delta(R"({"content":"a"})") + Delta(R"({"content":"b"})");
  const ChatAnswer chunks = Read(kStream, {{1, text}});
  EXPECT_EQ(chunks.tokens, 2);
  EXPECT_EQ(chunks.counted, TokenCount::kChunks);
  const ChatAnswer timings =
      Read(kStream, {{1, text + "data: {\"timings\":{\"predicted_n\":7}}\n\n"}});
  EXPECT_EQ(timings.tokens, 7);
  EXPECT_EQ(timings.counted, TokenCount::kTimings);
  const ChatAnswer both = Read(kStream, {{1, text + "data: {\"usage\":{\"completion_tokens\":3},"
                                                    "\"timings\":{\"predicted_n\":7}}\n\n"}});
  EXPECT_EQ(both.tokens, 3);
}

TEST(ChatAnswerTest, ReasoningAndToolCallsAreTexts) {
  const ChatAnswer answer =
      Read(kStream, {{1, Delta(R"({"reasoning_content":"hm"})")},
                     {2, Delta(R"({"tool_calls":[{"index":0,"function":{"name":"f"}}]})")}});
  EXPECT_EQ(answer.chunks, 2);
  EXPECT_EQ(answer.first_ms, 1);
}

TEST(ChatAnswerTest, SaysWhatIsWrong) {
  const std::string text = Delta(R"({"content":"a"})");
  EXPECT_EQ(Read(kStream, {}).error, "the stream ended without any text");
  EXPECT_EQ(Read(kStream, {{1, "data: [DONE]\n\n"}}).error, "the stream ended without any text");
  EXPECT_EQ(Read(kStream, {{1, text + "data: <html>\n\n"}}).error,
            "event 2 of the stream is not a JSON object: <html>");
  EXPECT_EQ(Read(kStream, {{1, text + "data: {\"error\":{\"message\":\"too busy\"}}\n\n"}}).error,
            "too busy");
  EXPECT_EQ(Read(kStream, {{1, text}}, "the connection broke").error, "the connection broke");
  EXPECT_EQ(Read({}, {}, "nothing answers there").error, "nothing answers there");
  EXPECT_EQ(
      Read({.status = 200, .content_type = "application/json"}, {{1, "{\"choices\":[]}"}}).error,
      "the answer is no event stream but \"application/json\": {\"choices\":[]}");
  EXPECT_EQ(Read({.status = 503, .content_type = "application/json"},
                 {{1, R"({"error":{"message":"the queue is full"}})"}})
                .error,
            "HTTP 503: the queue is full");
  EXPECT_EQ(Read({.status = 404, .content_type = "text/html"}, {}).error, "HTTP 404");
}

TEST(ChatAnswerTest, OddShapesAreNoCrash) {
  for (const char* event :
       {"{}", "[]", "7", R"({"choices":{}})", R"({"choices":[7]})", R"({"choices":[{"delta":[]}]})",
        R"({"choices":[{"delta":{"content":7}}]})", R"({"usage":7,"timings":[]})",
        R"({"usage":{"completion_tokens":"x"}})", R"({"choices":[{"text":"ok"}]})"}) {
    Read(kStream, {{1, "data: " + std::string(event) + "\n\n"}});
  }
}

TEST(ServerSentenceTest, KnowsTheUsualShapes) {
  EXPECT_EQ(ServerSentence(R"({"error":"a"})"), "a");
  EXPECT_EQ(ServerSentence(R"({"error":{"message":"b","code":4}})"), "b");
  EXPECT_EQ(ServerSentence(R"({"detail":"c"})"), "c");
  EXPECT_EQ(ServerSentence(R"({"message":"d"})"), "d");
  EXPECT_EQ(ServerSentence("<html>\n<b>"), "<html> <b>");
  EXPECT_EQ(ServerSentence(std::string(1000, 'x')).size(), 163U);
}

}  // namespace
}  // namespace vivace
