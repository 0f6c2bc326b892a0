#include <editline/readline.h>
#include <langinfo.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "api/timings.h"
#include "app/interrupts.h"
#include "app/run.h"
#include "chat/prompt.h"
#include "hub/home.h"

namespace vivace {
namespace {

constexpr const char* kHelp =
    "/help            this list\n"
    "/clear           start over, keep the system message\n"
    "/save FILE       write the conversation as JSON\n"
    "/set NAME VALUE  temperature, top_k, top_p, min_p, seed, max_tokens or system\n"
    "/stats           times of the last answer\n"
    "/exit            leave (or Ctrl-D)\n"
    "A line that ends with \\ goes on in the next one. Ctrl-C stops an answer.\n";

// The line editor reads characters as the locale says. Where none is set, ours are UTF-8
// all the same; only LC_CTYPE, so that numbers keep their decimal points.
void UseUtf8() {
  const char* locale = std::setlocale(LC_CTYPE, "");
  if (locale == nullptr || std::string_view(nl_langinfo(CODESET)) != "UTF-8") {
    std::setlocale(LC_CTYPE, "C.UTF-8");
  }
}

// A line of input, or nothing at its end. Lines ending in a backslash are joined.
std::optional<std::string> ReadInput() {
  std::string input;
  const char* prompt = "> ";
  for (;;) {
    char* line = readline(prompt);
    if (line == nullptr) return std::nullopt;
    input += line;
    if (*line != '\0') add_history(line);
    std::free(line);
    if (!input.ends_with('\\')) return input;
    input.back() = '\n';
    prompt = ". ";
  }
}

class TerminalChat {
 public:
  TerminalChat(RunFlags flags, Session& session, ChatTemplate chat)
      : flags_(std::move(flags)), session_(session), chat_(std::move(chat)) {
    Clear();
  }

  // Until /exit or the end of input.
  void Loop() {
    while (const auto input = ReadInput()) {
      if (input->empty()) continue;
      if (input->front() == '/') {
        if (!Command(*input)) return;
        continue;
      }
      Ask(*input);
    }
    fmt::print("\n");
  }

 private:
  void Clear() {
    messages_.clear();
    if (!flags_.system.empty()) messages_.push_back({.role = "system", .content = flags_.system});
  }

  void Ask(const std::string& question) {
    messages_.push_back({.role = "user", .content = question});
    const auto prompt = ChatPrompt(session_.model(), chat_, {.messages = messages_, .tools = {}});
    if (!prompt) return Undo(prompt.error());
    const InterruptScope interrupt;
    const auto result = session_.generator().Generate(
        {.prompt = *prompt,
         .sampling = flags_.sampling,
         .max_tokens = flags_.max_tokens,
         .stop = flags_.stop},
        interrupt.token(), [](std::string_view text) { std::cout << text << std::flush; });
    if (!result) return Undo(result.error());
    fmt::print("{}\n\n", interrupt.interrupted() ? " [stopped]" : "");
    timings_ = result->timings;
    messages_.push_back({.role = "assistant", .content = result->text});
  }

  // The question stays in the line history; the conversation is as before.
  void Undo(const Error& error) {
    messages_.pop_back();
    fmt::print("{}\n(/clear starts over)\n", error.message);
  }

  // False for /exit.
  bool Command(const std::string& line) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name == "/exit" || name == "/quit" || name == "/bye") return false;
    if (name == "/clear") {
      Clear();
      fmt::print("cleared\n");
    } else if (name == "/stats") {
      fmt::print("{}\n", timings_ ? TimingsLine(*timings_) : "no answer yet");
    } else if (name == "/save") {
      Save(words);
    } else if (name == "/set") {
      SetValue(words);
    } else {
      if (name != "/help") fmt::print("unknown command {}\n", name);
      fmt::print("{}", kHelp);
    }
    return true;
  }

  void Save(std::istream& words) {
    std::string path;
    words >> path;
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const Message& message : messages_) {
      json.push_back({{"role", message.role}, {"content", message.content}});
    }
    std::ofstream file(path);
    file << json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    fmt::print("{}\n", file ? "saved " + path : "cannot write \"" + path + "\"");
  }

  void SetValue(std::istream& words) {
    std::string name;
    words >> name >> std::ws;
    RunFlags changed = flags_;
    SamplingParams& sampling = changed.sampling;
    if (name == "system") {
      std::getline(words, changed.system);
    } else if (name == "temperature") {
      words >> sampling.temperature;
    } else if (name == "top_k") {
      words >> sampling.top_k;
    } else if (name == "top_p") {
      words >> sampling.top_p;
    } else if (name == "min_p") {
      words >> sampling.min_p;
    } else if (name == "seed") {
      words >> sampling.seed;
    } else if (name == "max_tokens") {
      words >> changed.max_tokens;
    } else {
      fmt::print("unknown setting \"{}\"\n", name);
      return;
    }
    const auto valid = sampling.Validate();
    if (words.fail() || !valid) {
      fmt::print("{}\n", valid ? "the value is missing or not a number" : valid.error().message);
      return;
    }
    flags_ = changed;
    if (name == "system") Clear();
  }

  RunFlags flags_;
  Session& session_;
  ChatTemplate chat_;
  std::vector<Message> messages_;
  std::optional<GenerateTimings> timings_;
};

}  // namespace

Result<int> ChatInTerminal(RunFlags flags) {
  auto session = Session::Open(flags.session);
  if (!session) return Failure(std::move(session).error());
  auto chat = OpenChatTemplate((*session)->model(), flags.chat_template);
  if (!chat) return Failure(std::move(chat).error());
  fmt::print("{} · {} threads, {} · /help for commands\n", (*session)->name(),
             (*session)->threads(), (*session)->model().kernels().name);
  UseUtf8();
  const std::string history = HomeFolder() + "/history";
  using_history();
  read_history(history.c_str());
  IgnoreInterrupts(true);
  TerminalChat(std::move(flags), **session, std::move(*chat)).Loop();
  write_history(history.c_str());
  return 0;
}

}  // namespace vivace
