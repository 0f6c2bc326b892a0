#include <unistd.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/session.h"
#include "model/forward.h"
#include "sampling/probabilities.h"

namespace vivace {
namespace {

struct EvalFlags {
  SessionFlags session;
  std::string text;
  std::int64_t tokens = 4096;
  std::int64_t window = 512;
  bool json = false;
};

// Minus the log-probabilities of a window's tokens but the first, added up.
Result<double> ScoreWindow(Generator& generator, std::span<const TokenId> window) {
  const auto vocab = static_cast<std::size_t>(generator.model().config().vocab_size);
  const std::int64_t stride = LogitsStride(generator.model().config());
  double nll = 0;
  VIVACE_RETURN_IF_ERROR(
      generator.Evaluate(window, [&](std::int64_t first, std::int64_t rows, const float* logits) {
        for (std::int64_t row = 0; row < rows; ++row) {
          const auto next = static_cast<std::size_t>(first + row + 1);
          if (next >= window.size()) return;
          const std::span<const float> values(logits + row * stride, vocab);
          nll += LogSumExp(values) -
                 static_cast<double>(values[static_cast<std::size_t>(window[next])]);
        }
      }));
  return nll;
}

Result<int> Eval(EvalFlags flags) {
  std::ifstream file(flags.text, std::ios::binary);
  if (!file) return Fail(ErrorKind::kNotFound, flags.text + ": cannot be read");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  flags.session.context = std::max(flags.session.context, flags.window);
  auto session = Session::Open(flags.session);
  if (!session) return Failure(std::move(session).error());
  std::vector<TokenId> ids;
  (*session)->model().tokenizer().Encode(text, Tokenizer::Special::kAsText, ids);
  if (static_cast<std::int64_t>(ids.size()) < flags.tokens) {
    flags.tokens = static_cast<std::int64_t>(ids.size());
  }
  // Whole windows only, unless the text is shorter than one.
  const std::int64_t window = std::min(flags.window, flags.tokens);
  const std::int64_t windows = window < 2 ? 0 : flags.tokens / window;
  if (windows == 0) {
    return Fail(ErrorKind::kBadInput,
                fmt::format("{} has {} tokens, at least 2 are needed", flags.text, ids.size()));
  }
  double nll = 0;
  for (std::int64_t i = 0; i < windows; ++i) {
    const auto score = ScoreWindow((*session)->generator(),
                                   std::span(ids).subspan(static_cast<std::size_t>(i * window),
                                                          static_cast<std::size_t>(window)));
    if (!score) return Failure(score.error());
    nll += *score;
    if (isatty(STDERR_FILENO) != 0) {
      fmt::print(stderr, "\r{} of {} windows{}", i + 1, windows, i + 1 == windows ? "\n" : "");
    }
  }
  const std::int64_t scored = windows * (window - 1);
  const double mean = nll / static_cast<double>(scored);
  if (flags.json) {
    std::cout << nlohmann::ordered_json({{"mean_nll", mean},
                                         {"perplexity", std::exp(mean)},
                                         {"tokens", windows * window},
                                         {"scored", scored},
                                         {"window", window}})
                     .dump()
              << '\n';
  } else {
    fmt::print("mean NLL {:.5f} nats, perplexity {:.4f}, {} tokens in windows of {}\n", mean,
               std::exp(mean), windows * window, window);
  }
  return 0;
}

}  // namespace

void AddEval(CLI::App& app, CommandSlot& slot) {
  auto flags = std::make_shared<EvalFlags>();
  CLI::App* command = app.add_subcommand("eval", "Mean negative log-likelihood of a text");
  AddSessionFlags(*command, flags->session);
  command->add_option("--text", flags->text, "The file to score")->required();
  command->add_option("--tokens", flags->tokens, "Tokens from its start")
      ->check(CLI::Range(std::int64_t{2}, std::int64_t{1} << 40))
      ->capture_default_str();
  command->add_option("--window", flags->window, "Each window is a sequence of its own")
      ->check(CLI::Range(2, 1 << 20))
      ->capture_default_str();
  command->add_flag("--json", flags->json, "One JSON object on standard output");
  command->callback([&slot, flags] { slot.body = [flags] { return Eval(*flags); }; });
}

}  // namespace vivace
