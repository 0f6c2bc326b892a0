#include <algorithm>
#include <chrono>
#include <deque>

#include "hub/curl_request.h"

namespace vivace {
namespace {

constexpr long kAnswerMs = 5000;
constexpr int kPollMs = 50;

// One question that is under way.
struct Question {
  std::size_t source;
  AnswerHeaders headers;
  CurlHandle curl{nullptr, curl_easy_cleanup};
  bool done = false;
};

using CurlMulti = std::unique_ptr<CURLM, CURLMcode (*)(CURLM*)>;

// Notes the questions that have been answered or given up.
void TakeAnswers(CURLM* multi, std::deque<Question>& questions, std::vector<Probe>& probes) {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    for (Question& question : questions) {
      if (question.curl.get() != message->easy_handle) continue;
      Probe& probe = probes[question.source];
      question.done = true;
      // Whatever a host says, it is there: some refuse this kind of question.
      probe.reached = message->data.result == CURLE_OK || question.headers.status != 0;
      if (!probe.reached) probe.problem = "cannot be reached: " + CurlProblem(message->data.result);
      probe.announced = question.headers.announced;
    }
  }
}

// Whether the first source that can serve is known.
bool Decided(const std::deque<Question>& questions, const std::vector<Probe>& probes) {
  const auto open = std::find_if(questions.begin(), questions.end(), [&](const Question& question) {
    return !question.done || probes[question.source].reached;
  });
  return open == questions.end() || open->done;
}

}  // namespace

std::vector<Probe> ProbeSources(const std::vector<Source>& sources, const std::stop_token& stop) {
  std::vector<Probe> probes(sources.size());
  std::deque<Question> questions;
  // Declared after the questions: it lets go of their handles before they end.
  const CurlMulti multi(curl_multi_init(), curl_multi_cleanup);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].url.empty()) continue;
    Question& question = questions.emplace_back(Question{.source = i, .headers = {}});
    question.curl = MakeRequest(sources[i].url, question.headers);
    SetOption(question.curl.get(), CURLOPT_NOBODY, 1L);
    SetOption(question.curl.get(), CURLOPT_TIMEOUT_MS, kAnswerMs);
    curl_multi_add_handle(multi.get(), question.curl.get());
  }
  while (!Decided(questions, probes) && !stop.stop_requested()) {
    int running = 0;
    curl_multi_perform(multi.get(), &running);
    TakeAnswers(multi.get(), questions, probes);
    if (running == 0) break;
    curl_multi_poll(multi.get(), nullptr, 0, kPollMs, nullptr);
  }
  for (const Question& question : questions) {
    curl_multi_remove_handle(multi.get(), question.curl.get());
  }
  return probes;
}

}  // namespace vivace
