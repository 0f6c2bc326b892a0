// Drafts against real answers: tokens per step that each source would have given, by class of
// prompt and length of draft, with every row free and with rows at a price.
//
// Writes the answers once to a file of tokens, one line each, and replays them from there; so
// that a change of the drafter is judged in a second.
//
// usage: draft_bench MODEL.gguf STREAMS.txt [TOKENS]
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "chat/prompt.h"
#include "draft/draft_control.h"
#include "draft/drafter.h"
#include "draft/knowledge.h"
#include "engine/generator.h"
#include "kernels/dispatch.h"
#include "measure/speculation_bench.h"
#include "measure/speculation_prompts.h"
#include "model/loader.h"

namespace vivace {
namespace {

// One answer: its class, the prompt's tokens and its own.
struct Stream {
  std::string name;
  std::vector<TokenId> prompt;
  std::vector<TokenId> answer;
};

std::string Line(const std::vector<TokenId>& tokens) {
  std::string text;
  for (const TokenId token : tokens) text += ' ' + std::to_string(token);
  return text;
}

int WriteStreams(const char* path, const char* file, std::int64_t tokens) {
  ThreadTeam team({.threads = static_cast<int>(std::thread::hardware_concurrency())});
  LoadOptions options;
  if (const char* folder = std::getenv("PACKED")) options.packed_folder = folder;
  auto loaded = LoadModel(path, **SelectKernels(""), team, options);
  if (!loaded) return std::fprintf(stderr, "%s\n", loaded.error().message.c_str()), 1;
  auto generator = Generator::Create(loaded->model, team, {});
  auto chat = OpenChatTemplate(loaded->model, "");
  if (!generator || !chat) return 1;
  std::ofstream out(file);
  out << loaded->model.config().vocab_size << '\n';
  for (const SpeculationClass& kind : SpeculationClasses()) {
    for (const std::string& text : kind.prompts) {
      GenerateRequest request = {.prompt = {}, .max_tokens = tokens};
      request.prompt = *ChatPrompt(loaded->model, *chat,
                                   {.messages = {{.role = "user", .content = text}}, .tools = {}});
      request.sampling.temperature = 0;
      const auto result = (*generator)->Generate(request, {}, [](std::string_view) {});
      if (!result) return 1;
      out << kind.name << (RepeatsItself(result->tokens) ? "-loop" : "") << '|'
          << Line(request.prompt) << '|' << Line(result->tokens) << '\n';
    }
  }
  return 0;
}

std::vector<TokenId> ParseTokens(const std::string& text) {
  std::istringstream in(text);
  std::vector<TokenId> tokens;
  for (TokenId token = 0; in >> token;) tokens.push_back(token);
  return tokens;
}

std::vector<Stream> ReadStreams(const char* file, std::int64_t& vocab) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  vocab = std::atoll(line.c_str());
  std::vector<Stream> streams;
  while (std::getline(in, line)) {
    const auto first = line.find('|');
    const auto second = line.find('|', first + 1);
    streams.push_back({.name = line.substr(0, first),
                       .prompt = ParseTokens(line.substr(first + 1, second - first - 1)),
                       .answer = ParseTokens(line.substr(second + 1))});
  }
  return streams;
}

struct Sum {
  double tokens = 0;
  double steps = 0;
  double ms = 0;       // at the prices, against 1 for a token without drafts
  double drafted = 0;  // rows more
  std::array<double, kDraftSources> by_source = {};
  std::array<double, kDraftSources> right = {};
};

// Prices of rows in shares of a step: `more` for each after the first.
DraftControl Priced(double more) {
  DraftControl control;
  for (int i = 0; i < 3; ++i) {
    for (std::int64_t rows = 1; rows <= RowCost::kMostRows; ++rows) {
      control.Observe(rows, 1 + more * static_cast<double>(rows - 1));
    }
  }
  return control;
}

// `most` tokens of each draft, or as many as pay where `control` is given.
void Replay(const Stream& stream, DraftKnowledge& shared, std::int64_t most,
            const DraftControl& control, bool controlled, Sum& sum) {
  const auto longest = static_cast<std::int64_t>(stream.prompt.size() + stream.answer.size());
  Drafter drafter(stream.prompt, longest, shared);
  std::size_t at = 0;
  while (at < stream.answer.size()) {
    DraftControl::Offer offer = {.tokens = drafter.Propose(most)};
    if (controlled) {
      control.Decide({&offer, 1});
    } else {
      offer.taken = static_cast<std::int64_t>(offer.tokens.size());
    }
    const std::vector<DraftToken> draft(offer.tokens.begin(), offer.tokens.begin() + offer.taken);
    std::size_t right = 0;
    for (const DraftToken& entry : draft) {
      sum.by_source[static_cast<std::size_t>(entry.source)] += 1;
      if (at + right >= stream.answer.size() || entry.token != stream.answer[at + right]) break;
      sum.right[static_cast<std::size_t>(entry.source)] += 1;
      ++right;
    }
    const std::size_t end = std::min(at + right + 1, stream.answer.size());
    sum.tokens += static_cast<double>(end - at);
    sum.steps += 1;
    sum.drafted += static_cast<double>(draft.size());
    sum.ms += control.cost().Ms(1 + static_cast<std::int64_t>(draft.size()));
    for (; at < end; ++at) drafter.Append(stream.answer[at]);
  }
  shared.Remember(stream.answer);
}

void Report(const char* what, const std::map<std::string, Sum>& sums) {
  std::printf("%-22s", what);
  for (const auto& [name, sum] : sums) {
    std::printf(" %11s %4.2f/%4.2f", name.c_str(), sum.tokens / sum.steps, sum.tokens / sum.ms);
  }
  std::printf("\n");
}

void ReplayAll(const std::vector<Stream>& streams, std::int64_t vocab) {
  for (const double more : {0.02, 0.05, 0.1}) {
    const DraftControl control = Priced(more);
    std::printf("a row more costs %.2f steps: tokens per step / speed against none\n", more);
    for (const std::int64_t most : {1, 2, 4, 8, 15, 0}) {
      DraftKnowledge shared(vocab);
      std::map<std::string, Sum> sums;
      for (const Stream& stream : streams) {
        Replay(stream, shared, most == 0 ? Drafter::kMostTokens : most, control, most == 0,
               sums[stream.name]);
      }
      Report(most == 0 ? "as it pays" : ("up to " + std::to_string(most)).c_str(), sums);
      if (most != 0) continue;
      for (const auto& [name, sum] : sums) {
        std::printf("  %-12s %6.0f tokens", name.c_str(), sum.tokens);
        for (std::size_t i = 0; i < kDraftSources; ++i) {
          std::printf("  %s %.0f of %.0f", kDraftSourceNames[i], sum.right[i], sum.by_source[i]);
        }
        std::printf("\n");
      }
    }
  }
}

int Run(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: draft_bench MODEL.gguf STREAMS.txt [TOKENS]\n");
    return 2;
  }
  if (!std::ifstream(argv[2]).good()) {
    const int written = WriteStreams(argv[1], argv[2], argc > 3 ? std::atoll(argv[3]) : 300);
    if (written != 0) return written;
  }
  std::int64_t vocab = 0;
  const std::vector<Stream> streams = ReadStreams(argv[2], vocab);
  ReplayAll(streams, vocab);
  return 0;
}

}  // namespace
}  // namespace vivace

int main(int argc, char** argv) { return vivace::Run(argc, argv); }
