#include "hub/modelfile.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/trimmed.h"

namespace vivace {
namespace {

constexpr std::string_view kSpace = " \t\r";  // within one line
constexpr std::string_view kQuotes = "\"\"\"";

std::string_view Bare(std::string_view text) { return Trimmed(text, kSpace); }

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
  }

  Result<Modelfile> Parse() {
    while (!rest_.empty()) {
      SkipSpace();
      if (rest_.starts_with('#') || rest_.empty() || rest_.front() == '\n') {
        TakeLine();
        continue;
      }
      auto done = Instruction();
      if (!done) return Failure(std::move(done).error());
    }
    if (file_.from.empty()) {
      return Fail(ErrorKind::kBadInput, "no FROM, which names the model to start from");
    }
    return std::move(file_);
  }

 private:
  Failure Wrong(std::size_t line, const std::string& problem) const {
    return Fail(ErrorKind::kBadInput, fmt::format("line {}: {}", line, problem));
  }

  Result<void> Instruction() {
    const std::size_t line = line_;
    const std::string name = ToLower(TakeWord());
    std::string first;  // the word before the value, of instructions that have one
    if (name == "parameter" || name == "message") {
      first = ToLower(TakeWord());
      if (first.empty()) return Wrong(line, name + " needs a name and a value");
    }
    auto value = TakeValue(name);
    if (!value) return Failure(std::move(value).error());
    return Put(line, name, std::move(first), std::move(*value));
  }

  Result<void> Put(std::size_t line, const std::string& name, std::string first,
                   std::string value) {
    if (name == "from") {
      if (!file_.from.empty()) return Wrong(line, "FROM comes twice");
      if (value.empty()) return Wrong(line, "FROM needs the name of a model");
      file_.from = std::move(value);
    } else if (name == "parameter") {
      if (value.empty()) return Wrong(line, "parameter " + first + " needs a value");
      file_.parameters.emplace_back(std::move(first), std::move(value));
    } else if (name == "template") {
      file_.chat_template = std::move(value);
    } else if (name == "system") {
      file_.system = std::move(value);
    } else if (name == "adapter") {
      file_.adapter = std::move(value);
    } else if (name == "license") {
      file_.licenses.push_back(std::move(value));
    } else if (name == "message") {
      if (first != "system" && first != "user" && first != "assistant") {
        return Wrong(line, fmt::format("message role \"{}\" is unknown, allowed is system, user, "
                                       "assistant",
                                       first.substr(0, 40)));
      }
      file_.messages.push_back({std::move(first), std::move(value)});
    } else {
      return Wrong(line, fmt::format("\"{}\" is no instruction, allowed is FROM, PARAMETER, "
                                     "TEMPLATE, SYSTEM, ADAPTER, LICENSE, MESSAGE",
                                     name.substr(0, 40)));
    }
    return {};
  }

  void SkipSpace() { rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpace), rest_.size())); }

  std::string_view TakeWord() {
    SkipSpace();
    const std::size_t end = std::min(rest_.find_first_of(" \t\r\n"), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return word;
  }

  std::string_view TakeLine() {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++line_;
    return line;
  }

  Result<std::string> TakeValue(const std::string& name) {
    const std::size_t line = line_;
    SkipSpace();
    if (rest_.starts_with(kQuotes)) return TakeQuoted();
    const std::string_view value = Bare(TakeLine());
    if (!value.starts_with('"')) return std::string(value);
    if (value.size() < 2 || !value.ends_with('"')) {
      return Wrong(line, fmt::format("{}: the quote is not closed at the end of the line, longer "
                                     "values stand between \"\"\"",
                                     name.substr(0, 40)));
    }
    return std::string(value.substr(1, value.size() - 2));
  }

  // A value between three quotes, over any number of lines.
  Result<std::string> TakeQuoted() {
    const std::size_t line = line_;
    rest_.remove_prefix(kQuotes.size());
    std::size_t end = rest_.find(kQuotes);
    if (end == std::string_view::npos) return Wrong(line, "the \"\"\" is not closed");
    // Of more than three quotes in a row, the last three close.
    while (rest_.substr(end + 1).starts_with(kQuotes)) ++end;
    std::string value(rest_.substr(0, end));
    line_ += static_cast<std::size_t>(std::ranges::count(value, '\n'));
    rest_.remove_prefix(end + kQuotes.size());
    const std::size_t last = line_;
    const std::string_view after = Bare(TakeLine());
    if (!after.empty()) {
      return Wrong(last, fmt::format("\"{}\" comes after the closing \"\"\"", after.substr(0, 40)));
    }
    return value;
  }

  std::string_view rest_;
  std::size_t line_ = 1;
  Modelfile file_;
};

std::string Quoted(const std::string& value) {
  const bool one_line = value.find_first_of("\n\r") == std::string::npos;
  std::string quoted = '"' + value + '"';
  if (one_line && !quoted.starts_with(kQuotes)) return quoted;
  return fmt::format("{}{}{}", kQuotes, value, kQuotes);
}

}  // namespace

Result<Modelfile> ParseModelfile(std::string_view text) { return Parser(text).Parse(); }

std::string WriteModelfile(const Modelfile& modelfile) {
  std::string text = "FROM " + modelfile.from + "\n";
  for (const auto& [name, value] : modelfile.parameters) {
    const bool is_word = value.find_first_of(" \t\r\n\"") == std::string::npos;
    text += fmt::format("PARAMETER {} {}\n", name, is_word ? value : Quoted(value));
  }
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += fmt::format("{} {}\n", name, Quoted(value));
  };
  add("TEMPLATE", modelfile.chat_template);
  add("SYSTEM", modelfile.system);
  add("ADAPTER", modelfile.adapter);
  for (const std::string& license : modelfile.licenses) add("LICENSE", license);
  for (const ModelfileMessage& message : modelfile.messages) {
    text += fmt::format("MESSAGE {} {}\n", message.role, Quoted(message.content));
  }
  return text;
}

}  // namespace vivace
