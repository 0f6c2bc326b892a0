// vivace eval: how good a model is: on texts, tasks and long contexts.
#include "app/eval.h"

#include <memory>

#include <fmt/format.h>

#include "app/commands.h"

namespace vivace {
namespace {

Result<int> Eval(const EvalFlags& flags) {
  const int kinds = (flags.text.empty() ? 0 : 1) + (flags.tasks.empty() ? 0 : 1) +
                    (flags.needle.empty() ? 0 : 1) + (flags.json_answers > 0 ? 1 : 0);
  if (kinds != 1) {
    return Fail(ErrorKind::kBadInput,
                fmt::format("{} of --text, --tasks, --needle and --json-answers {} given, one is "
                            "needed",
                            kinds, kinds == 1 ? "is" : "are"));
  }
  if (!flags.text.empty()) return EvalText(flags);
  if (!flags.tasks.empty()) return EvalTasks(flags);
  return flags.needle.empty() ? EvalJsonAnswers(flags) : EvalNeedle(flags);
}

void AddTextFlags(CLI::App& command, EvalFlags& flags) {
  const char* group = "Text";
  CLI::Option* text =
      command.add_option("--text", flags.text, "The file to score: perplexity")->group(group);
  command.add_option("--tokens", flags.tokens, "Tokens from its start")
      ->group(group)
      ->check(CLI::Range(std::int64_t{2}, std::int64_t{1} << 40))
      ->capture_default_str();
  command.add_option("--window", flags.window, "Each window is a sequence of its own")
      ->group(group)
      ->check(CLI::Range(2, 1 << 20))
      ->capture_default_str();
  command
      .add_option("--save-run", flags.save_run, "Keep what the model thinks of each token there")
      ->group(group)
      ->needs(text);
  command
      .add_option("--against", flags.against,
                  "Compare with such a run: Kullback-Leibler divergence")
      ->group(group)
      ->needs(text);
}

void AddTaskFlags(CLI::App& command, EvalFlags& flags) {
  const char* group = "Tasks";
  CLI::Option* tasks =
      command
          .add_option("--tasks", flags.tasks,
                      "A file: multiple choice (MMLU, CMMLU, C-Eval; .csv or .jsonl) or programs "
                      "(HumanEval; .jsonl)")
          ->group(group);
  CLI::Option* shots =
      command
          .add_option("--shots", flags.shots,
                      "Show so many questions of --dev with their answers before each one")
          ->group(group)
          ->check(CLI::Range(1, 64))
          ->needs(tasks);
  CLI::Option* dev =
      command.add_option("--dev", flags.examples, "The file that --shots takes questions from")
          ->group(group)
          ->needs(shots);
  shots->needs(dev);
  command
      .add_option("--needle", flags.needle,
                  "Find a sentence in texts of so many tokens, with commas between")
      ->group(group)
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{64}, std::int64_t{1} << 20));
  command.add_option("--json-answers", flags.json_answers, "Ask so often for a JSON object")
      ->group(group)
      ->check(CLI::Range(1, 100'000));
  command.add_option("--limit", flags.limit, "Only the first items of --tasks; 0 is all")
      ->group(group)
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 30));
  command.add_option("--repeats", flags.repeats, "Texts for each length and place of --needle")
      ->group(group)
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_option("--max-tokens", flags.max_tokens, "Longest answer to a code task")
      ->group(group)
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command.add_flag("--raw", flags.raw, "Code tasks without chat template: the model continues")
      ->group(group);
  command
      .add_option("--out", flags.out,
                  "Keep every item's result there; an interrupted evaluation goes on with it")
      ->group(group);
}

}  // namespace

void AddEval(CLI::App& app, CommandSlot& slot) {
  auto flags = std::make_shared<EvalFlags>();
  CLI::App* command =
      app.add_subcommand("eval", "How good a model is, and whether two differ")->group("Measuring");
  AddSessionFlags(*command, flags->session);
  AddTextFlags(*command, *flags);
  AddTaskFlags(*command, *flags);
  command->add_flag("--json", flags->json, "One JSON object on standard output");
  auto runs = std::make_shared<std::vector<std::string>>();
  auto json = std::make_shared<bool>(false);
  CLI::App* compare = command->add_subcommand("compare", "Files of --out side by side");
  compare->add_option("RUN", *runs, "The first is what the others are compared with")
      ->required()
      ->expected(1, 64);
  compare->add_flag("--json", *json, "One JSON object on standard output");
  command->footer(
      "Examples:\n"
      "  vivace eval MODEL --text book.txt\n"
      "  vivace eval MODEL --tasks mmlu.csv --out mmlu-q4.jsonl\n"
      "  vivace eval compare mmlu-q8.jsonl mmlu-q4.jsonl");
  command->callback([&slot, flags, compare] {
    if (compare->parsed()) return;
    slot.body = [flags] { return Eval(*flags); };
  });
  compare->callback(
      [&slot, runs, json] { slot.body = [runs, json] { return CompareEvals(*runs, *json); }; });
}

}  // namespace vivace
