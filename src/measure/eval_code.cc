#include "measure/eval_code.h"

#include <fmt/format.h>

namespace vivace {
namespace {

// What stands before the first function: imports and constants that the answer may leave out.
std::string_view Preamble(std::string_view prompt) {
  if (prompt.starts_with("def ")) return {};
  const std::size_t function = prompt.find("\ndef ");
  return function == std::string_view::npos ? std::string_view() : prompt.substr(0, function + 1);
}

}  // namespace

std::string CodeBlock(std::string_view answer) {
  constexpr std::string_view kMark = "```";
  const std::size_t begin = answer.find(kMark);
  if (begin == std::string_view::npos) return std::string(answer);
  const std::size_t line_end = answer.find('\n', begin);
  if (line_end == std::string_view::npos) return {};
  const std::string_view code = answer.substr(line_end + 1);
  return std::string(code.substr(0, code.find(kMark)));
}

std::string ProgramOf(const CodeTask& task, std::string_view answer, bool whole) {
  std::string code(answer);
  if (!whole) {
    code = CodeBlock(answer);
    const bool has_function = code.find("def " + task.entry_point + "(") != std::string::npos;
    code = has_function ? fmt::format("{}\n{}", Preamble(task.prompt), code) : task.prompt + code;
  }
  return fmt::format("{}\n\n{}\n\ncheck({})\n", code, task.test, task.entry_point);
}

}  // namespace vivace
