// Shell completion scripts, made from the commands and flags themselves.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/commands.h"

namespace vivace {
namespace {

// What a shell should offer after a command.
struct CommandWords {
  std::string name;
  std::string description;
  std::vector<std::string> flags;  // "--json"; with those of its parts
  std::vector<std::string> parts;  // commands of its own: "engine" of bench
  bool takes_model = false;
};

CommandWords WordsOf(const CLI::App& command) {
  CommandWords words = {.name = command.get_name(),
                        .description = command.get_description(),
                        .flags = {},
                        .parts = {},
                        .takes_model = false};
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) words.flags.push_back("--" + name);
    const std::string name = option->get_positional() ? option->get_single_name() : "";
    words.takes_model = words.takes_model || name == "MODEL" || name == "NAME";
  }
  for (const CLI::App* part : command.get_subcommands({})) {
    const CommandWords inner = WordsOf(*part);
    words.parts.push_back(inner.name);
    words.flags.insert(words.flags.end(), inner.flags.begin(), inner.flags.end());
    words.takes_model = words.takes_model || inner.takes_model;
  }
  // A command and its part both have --help.
  std::sort(words.flags.begin(), words.flags.end());
  words.flags.erase(std::unique(words.flags.begin(), words.flags.end()), words.flags.end());
  return words;
}

std::vector<CommandWords> AllCommands(const CLI::App& app) {
  std::vector<CommandWords> commands;
  for (const CLI::App* command : app.get_subcommands({})) commands.push_back(WordsOf(*command));
  return commands;
}

std::vector<std::string> NamesOf(const std::vector<CommandWords>& commands, bool only_with_model) {
  std::vector<std::string> names;
  for (const CommandWords& command : commands) {
    if (command.takes_model || !only_with_model) names.push_back(command.name);
  }
  return names;
}

// The word under the cursor is cut out of the line, because bash splits words at the
// colon of name:quant; what stands before the last colon is taken off the answers again.
constexpr const char* kBashScript = R"sh(_vivace() {{
  local line="${{COMP_LINE:0:COMP_POINT}}" command="${{COMP_WORDS[1]}}" words='' current
  current="${{line##*[[:space:]]}}"
  case "$command" in
{}  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='{}'
  elif [ "${{current#-}}" = "$current" ]; then
    words=''
    case "$command" in
    completion) words='bash zsh fish' ;;
    {}) words="$(vivace list --names 2>/dev/null)" ;;
    esac
    case "$COMP_CWORD $command" in
{}    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ "${{#COMPREPLY[@]}}" -eq 0 ]; then
    COMPREPLY=($(compgen -f -- "$current"))
  fi
  case "$current" in
  *:*) COMPREPLY=("${{COMPREPLY[@]#"${{current%:*}}:"}}") ;;
  esac
}}
complete -o filenames -F _vivace vivace
)sh";

std::string BashScript(const std::vector<CommandWords>& commands) {
  std::string cases;
  for (const CommandWords& command : commands) {
    cases += fmt::format("  {}) words='{}' ;;\n", command.name, fmt::join(command.flags, " "));
  }
  std::string parts;
  for (const CommandWords& command : commands) {
    if (command.parts.empty()) continue;
    parts +=
        fmt::format("    '2 {}') words='{}' ;;\n", command.name, fmt::join(command.parts, " "));
  }
  return fmt::format(kBashScript, cases, fmt::join(NamesOf(commands, false), " "),
                     fmt::join(NamesOf(commands, true), " | "), parts);
}

// zsh runs the same function through its bash compatibility.
std::string ZshScript(const std::vector<CommandWords>& commands) {
  return "autoload -Uz compinit bashcompinit && compinit -u && bashcompinit\n" +
         BashScript(commands);
}

std::string Quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string FishScript(const std::vector<CommandWords>& commands) {
  std::string script = "complete -c vivace -n __fish_use_subcommand -f\n";
  for (const CommandWords& command : commands) {
    script += fmt::format("complete -c vivace -n __fish_use_subcommand -a {} -d {}\n", command.name,
                          Quoted(command.description));
    for (const std::string& flag : command.flags) {
      script += fmt::format("complete -c vivace -n '__fish_seen_subcommand_from {}' -l {}\n",
                            command.name, flag.substr(2));
    }
    for (const std::string& part : command.parts) {
      script += fmt::format(
          "complete -c vivace -n '__fish_seen_subcommand_from {}; and not "
          "__fish_seen_subcommand_from {}' -f -a {}\n",
          command.name, fmt::join(command.parts, " "), part);
    }
  }
  script +=
      "complete -c vivace -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n";
  return script + fmt::format(
                      "complete -c vivace -n '__fish_seen_subcommand_from {}' "
                      "-a '(vivace list --names 2>/dev/null)'\n",
                      fmt::join(NamesOf(commands, true), " "));
}

}  // namespace

void AddCompletion(CLI::App& app, CommandSlot& slot) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completion", "A completion script for your shell")->group("Shell");
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(
      "Examples:\n"
      "  source <(vivace completion bash)\n"
      "  vivace completion fish > ~/.config/fish/completions/vivace.fish");
  command->callback([&app, &slot, shell] {
    slot.body = [&app, shell]() -> Result<int> {
      const auto commands = AllCommands(app);
      if (*shell == "bash") fmt::print("{}", BashScript(commands));
      if (*shell == "zsh") fmt::print("{}", ZshScript(commands));
      if (*shell == "fish") fmt::print("{}", FishScript(commands));
      return 0;
    };
  });
}

}  // namespace vivace
