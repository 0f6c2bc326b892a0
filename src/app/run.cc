#include "app/run.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <limits>
#include <memory>
#include <random>

#include <fmt/format.h>

#include "api/timings.h"
#include "app/commands.h"
#include "app/interrupts.h"
#include "app/profiles.h"
#include "chat/prompt.h"

namespace vivace {
namespace {

Result<std::vector<TokenId>> PromptIds(const RunFlags& flags, const Model& model) {
  if (flags.raw) return RawPrompt(model, flags.prompt, true);
  const auto chat = OpenChatTemplate(model, flags.chat_template);
  if (!chat) return Failure(chat.error());
  ChatRequest request;
  if (!flags.system.empty()) {
    request.messages.push_back({.role = "system", .content = flags.system});
  }
  request.messages.push_back({.role = "user", .content = flags.prompt});
  return ChatPrompt(model, *chat, request);
}

// Per token: the most likely ones at its step, [id, log-probability].
nlohmann::ordered_json LogprobsJson(const GenerateResult& result) {
  auto steps = nlohmann::ordered_json::array();
  for (const std::vector<TokenLogprob>& step : result.logprobs) {
    auto top = nlohmann::ordered_json::array();
    for (const TokenLogprob& entry : step) {
      // JSON has no -inf: the lowest finite number stands for probability zero.
      top.push_back({entry.token, std::max(entry.logprob, std::numeric_limits<double>::lowest())});
    }
    steps.push_back(std::move(top));
  }
  return steps;
}

void PrintJson(const GenerateResult& result, const std::vector<TokenId>& prompt,
               const Session& session) {
  nlohmann::ordered_json json = {{"model", session.name()},
                                 {"text", result.text},
                                 {"tokens", result.tokens},
                                 {"prompt_tokens", prompt},
                                 {"finish_reason", FinishReasonName(result.finish_reason)},
                                 {"timings", TimingsJson(result.timings)}};
  if (!result.logprobs.empty()) json["logprobs"] = LogprobsJson(result);
  json["timings"]["load_ms"] = session.load_ms();
  json["timings"]["threads"] = session.threads();
  json["timings"]["kernels"] = session.model().kernels().name;
  std::cout << json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

Result<int> AnswerOnce(const RunFlags& flags) {
  auto session = Session::Open(flags.session);
  if (!session) return Failure(std::move(session).error());
  const auto prompt = PromptIds(flags, (*session)->model());
  if (!prompt) return Failure(prompt.error());
  const InterruptScope interrupt;
  const auto result =
      (*session)->generator().Generate({.prompt = *prompt,
                                        .sampling = flags.sampling,
                                        .max_tokens = flags.max_tokens,
                                        .stop = flags.stop,
                                        .logprobs = flags.logprobs},
                                       interrupt.token(), [&](std::string_view text) {
                                         if (!flags.json) std::cout << text << std::flush;
                                       });
  if (!result) return Failure(result.error());
  if (flags.json) {
    PrintJson(*result, *prompt, **session);
  } else {
    std::cout << '\n' << std::flush;
  }
  if (flags.timings) fmt::print(stderr, "{}\n", TimingsLine(result->timings));
  return result->finish_reason == FinishReason::kCancelled ? kExitInterrupted : 0;
}

Result<int> Run(RunFlags flags) {
  VIVACE_RETURN_IF_ERROR(flags.sampling.Validate());
  if (!flags.has_prompt && isatty(STDIN_FILENO) != 0) return ChatInTerminal(std::move(flags));
  if (!flags.has_prompt) {
    flags.prompt.assign(std::istreambuf_iterator<char>(std::cin), {});
    // One newline at the end is the shell's, not the question's.
    if (flags.prompt.ends_with('\n')) flags.prompt.pop_back();
  }
  if (flags.prompt.empty()) {
    return Fail(ErrorKind::kBadInput,
                "the prompt is empty: give -p TEXT or text on standard input");
  }
  return AnswerOnce(flags);
}

void AddSamplingFlags(CLI::App& command, SamplingParams& sampling) {
  const char* group = "Sampling";
  command.add_option("--temperature", sampling.temperature, "0 is greedy")
      ->group(group)
      ->capture_default_str();
  command.add_option("--seed", sampling.seed, "Random where not given")->group(group);
  command.add_option("--top-k", sampling.top_k, "0 is all")->group(group)->capture_default_str();
  command.add_option("--top-p", sampling.top_p)->group(group)->capture_default_str();
  command.add_option("--min-p", sampling.min_p)->group(group)->capture_default_str();
  command.add_option("--typical-p", sampling.typical_p)->group(group)->capture_default_str();
  command.add_option("--repeat-penalty", sampling.repeat_penalty)
      ->group(group)
      ->capture_default_str();
  command.add_option("--repeat-last-n", sampling.repeat_last_n, "-1 is all")
      ->group(group)
      ->capture_default_str();
  command.add_option("--presence-penalty", sampling.presence_penalty)
      ->group(group)
      ->capture_default_str();
  command.add_option("--frequency-penalty", sampling.frequency_penalty)
      ->group(group)
      ->capture_default_str();
}

}  // namespace

void AddRun(CLI::App& app, CommandSlot& slot) {
  auto flags = std::make_shared<RunFlags>();
  CLI::App* command =
      app.add_subcommand("run", "Chat in the terminal, or answer once with -p or piped input");
  AddSessionFlags(*command, flags->session);
  CLI::Option* prompt = command->add_option("-p,--prompt", flags->prompt, "Answer this and exit");
  command->add_option("--system", flags->system, "System message");
  command->add_flag("--raw", flags->raw, "No chat template: the model continues the text");
  command->add_option("--chat-template", flags->chat_template,
                      "Built-in template: chatml, smollm, llama2, llama3, gemma, plain");
  command
      ->add_option("--max-tokens", flags->max_tokens,
                   "Longest answer; -1 until the context is full")
      ->check(CLI::Range(std::int64_t{-1}, std::int64_t{1} << 30))
      ->capture_default_str();
  command->add_option("--stop", flags->stop, "End the answer before this text (repeatable)");
  command
      ->add_option("--logprobs", flags->logprobs, "With --json: the N most likely tokens per step")
      ->check(CLI::Range(0, 1 << 20));
  command->add_flag("--json", flags->json, "One JSON object on standard output");
  command->add_flag("--timings", flags->timings, "A line of timings on standard error");
  AddSamplingFlags(*command, flags->sampling);
  const auto profile = AddProfileFlag(*command, ProfileFor::kRun);
  command->footer(
      "Examples:\n"
      "  vivace run qwen2.5-coder-0.5b-instruct\n"
      "  echo 'What is GQA?' | vivace run --temperature 0\n"
      "  vivace run model.gguf --raw -p 'The capital of France is' --max-tokens 8 --json");
  command->callback([&slot, flags, command, prompt, profile] {
    UseProfile(*command, ProfileFor::kRun, *profile);
    flags->has_prompt = prompt->count() > 0;
    if (command->get_option("--seed")->count() == 0) flags->sampling.seed = std::random_device()();
    slot.body = [flags] { return Run(*flags); };
  });
}

}  // namespace vivace
