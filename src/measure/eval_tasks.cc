#include "measure/eval_tasks.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "base/trimmed.h"
#include "measure/csv_reader.h"

namespace vivace {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostChoices = 26;

std::uint64_t HashOf(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

Failure Wrong(const std::string& path, std::size_t line, const std::string& what) {
  return Fail(ErrorKind::kBadInput, fmt::format("{}:{}: {}", path, line, what));
}

// "B", "b" or "1" as an index.
std::optional<std::size_t> AnswerIndex(std::string_view text, std::size_t choices) {
  text = Trimmed(text);
  if (text.size() != 1) return std::nullopt;
  const char c = ToLower(text)[0];
  const std::size_t index = c >= 'a' && c <= 'z'   ? static_cast<std::size_t>(c - 'a')
                            : c >= '0' && c <= '9' ? static_cast<std::size_t>(c - '0')
                                                   : choices;
  if (index >= choices) return std::nullopt;
  return index;
}

Result<ChoiceTask> Checked(ChoiceTask task, std::string_view answer, const std::string& path,
                           std::size_t line) {
  if (Trimmed(task.question).empty()) return Wrong(path, line, "the question is empty");
  if (task.choices.size() < 2 || task.choices.size() > kMostChoices) {
    return Wrong(path, line,
                 fmt::format("{} choices, allowed are 2 to {}", task.choices.size(), kMostChoices));
  }
  const auto index = AnswerIndex(answer, task.choices.size());
  if (!index) {
    return Wrong(path, line,
                 fmt::format("the answer is \"{}\", allowed is A to {}", answer.substr(0, 40),
                             static_cast<char>('A' + task.choices.size() - 1)));
  }
  task.answer = *index;
  if (task.id.empty()) task.id = std::to_string(line);
  return task;
}

// Which column holds what. Without a header: question, A, B, C, D, answer.
struct Columns {
  std::optional<std::size_t> id;
  std::size_t question = 0;
  std::vector<std::size_t> choices = {1, 2, 3, 4};
  std::size_t answer = 5;
  std::size_t least = 6;  // columns that a row must have
};

// The columns that a first row names; nothing where it is a question itself.
Result<std::optional<Columns>> HeaderOf(const std::vector<std::string>& row,
                                        const std::string& path) {
  Columns columns = {.id = {}, .question = 0, .choices = {}, .answer = 0, .least = row.size()};
  std::optional<std::size_t> question;
  std::optional<std::size_t> answer;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string name = ToLower(Trimmed(row[i]));
    if (name == "question") question = i;
    if (name == "answer") answer = i;
    if (name == "id" || (name.empty() && i == 0)) columns.id = i;
    if (name.size() == 1 && name[0] == static_cast<char>('a' + columns.choices.size()))
      columns.choices.push_back(i);
  }
  if (!question) return std::optional<Columns>();
  if (!answer || columns.choices.size() < 2) {
    return Wrong(path, 1, "the header needs the columns question, A, B (and more) and answer");
  }
  columns.question = *question;
  columns.answer = *answer;
  columns.least = 1 + std::max({*question, *answer, columns.choices.back()});
  return std::optional<Columns>(columns);
}

Result<ChoiceTask> TaskOf(const std::vector<std::string>& row, const Columns& columns,
                          const std::string& path, std::size_t line) {
  if (row.size() < columns.least) {
    return Wrong(path, line,
                 fmt::format("{} columns, {} are needed: question, the choices, answer", row.size(),
                             columns.least));
  }
  ChoiceTask task = {.id = columns.id ? row[*columns.id] : "",
                     .question = row[columns.question],
                     .choices = {},
                     .answer = 0};
  task.choices.reserve(columns.choices.size());
  for (const std::size_t column : columns.choices) task.choices.push_back(row[column]);
  return Checked(std::move(task), row[columns.answer], path, line);
}

Result<TaskFile> ParseCsv(const std::string& path, std::string_view text) {
  TaskFile file = {.path = path, .hash = HashOf(text), .choices = {}, .programs = {}};
  CsvReader reader(text);
  Columns columns;
  bool first = true;
  while (true) {
    const auto row = reader.Next();
    if (!row) return Wrong(path, reader.line(), row.error().message);
    if (row->empty()) break;
    if (first) {
      first = false;
      const auto header = HeaderOf(*row, path);
      if (!header) return Failure(header.error());
      if (*header) {
        columns = **header;
        continue;
      }
    }
    auto task = TaskOf(*row, columns, path, reader.line());
    if (!task) return Failure(std::move(task).error());
    file.choices.push_back(*std::move(task));
  }
  return file;
}

std::string TextOf(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return {};
  if (found->is_string()) return found->get<std::string>();
  return found->is_number_integer() ? found->dump() : std::string();
}

Result<ChoiceTask> ChoiceFrom(const Json& object, const std::string& path, std::size_t line) {
  ChoiceTask task = {.id = TextOf(object, "id"),
                     .question = TextOf(object, "question"),
                     .choices = {},
                     .answer = 0};
  if (const auto list = object.find("choices"); list != object.end() && list->is_array()) {
    for (const Json& choice : *list) {
      if (!choice.is_string()) return Wrong(path, line, "a choice is not a string");
      task.choices.push_back(choice.get<std::string>());
    }
  } else {
    for (char letter = 'A'; letter <= 'Z' && object.contains(std::string(1, letter)); ++letter) {
      task.choices.push_back(TextOf(object, std::string(1, letter).c_str()));
    }
  }
  return Checked(std::move(task), TextOf(object, "answer"), path, line);
}

Result<CodeTask> CodeFrom(const Json& object, const std::string& path, std::size_t line) {
  CodeTask task = {.id = TextOf(object, "task_id"),
                   .prompt = TextOf(object, "prompt"),
                   .test = TextOf(object, "test"),
                   .entry_point = TextOf(object, "entry_point")};
  const auto is_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (task.entry_point.empty() ||
      !std::all_of(task.entry_point.begin(), task.entry_point.end(), is_name)) {
    return Wrong(path, line,
                 fmt::format("the entry_point is \"{}\", it must name a function",
                             task.entry_point.substr(0, 40)));
  }
  if (task.prompt.empty() || task.test.empty())
    return Wrong(path, line, "prompt and test must be texts that are not empty");
  if (task.id.empty()) task.id = std::to_string(line);
  return task;
}

Result<TaskFile> ParseLines(const std::string& path, std::string_view text) {
  TaskFile file = {.path = path, .hash = HashOf(text), .choices = {}, .programs = {}};
  std::size_t line = 0;
  while (!text.empty()) {
    ++line;
    const std::string_view one = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    if (Trimmed(one).empty()) continue;
    const Json object = Json::parse(one, nullptr, false);
    if (!object.is_object()) return Wrong(path, line, "this is not one JSON object");
    if (object.contains("entry_point")) {
      auto task = CodeFrom(object, path, line);
      if (!task) return Failure(std::move(task).error());
      file.programs.push_back(*std::move(task));
    } else if (object.contains("question")) {
      auto task = ChoiceFrom(object, path, line);
      if (!task) return Failure(std::move(task).error());
      file.choices.push_back(*std::move(task));
    } else {
      return Wrong(path, line, "neither \"question\" nor \"entry_point\" is there");
    }
    if (!file.programs.empty() && !file.choices.empty())
      return Wrong(path, line, "questions and programs are mixed in one file");
  }
  return file;
}

// Ids name the results, so each comes once.
Result<void> CheckIds(const TaskFile& file) {
  std::vector<std::string> ids;
  ids.reserve(file.choices.size() + file.programs.size());
  for (const ChoiceTask& task : file.choices) ids.push_back(task.id);
  for (const CodeTask& task : file.programs) ids.push_back(task.id);
  if (ids.empty()) return Fail(ErrorKind::kBadInput, file.path + ": no task in it");
  std::sort(ids.begin(), ids.end());
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  if (twice == ids.end()) return {};
  return Fail(ErrorKind::kBadInput,
              fmt::format("{}: the id \"{}\" comes twice", file.path, *twice));
}

}  // namespace

Result<TaskFile> ParseTasks(const std::string& path, std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::string end = ToLower(path.substr(std::min(path.rfind('.'), path.size())));
  if (end != ".csv" && end != ".jsonl" && end != ".json") {
    return Fail(ErrorKind::kBadInput,
                fmt::format("{}: the name ends in \"{}\", allowed are .csv and .jsonl", path, end));
  }
  auto file = end == ".csv" ? ParseCsv(path, text) : ParseLines(path, text);
  if (!file) return file;
  VIVACE_RETURN_IF_ERROR(CheckIds(*file));
  return file;
}

Result<TaskFile> ReadTasks(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail(ErrorKind::kNotFound, path + ": cannot be read");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return ParseTasks(path, text);
}

std::string ChoicePrompt(const ChoiceTask& task) {
  std::string prompt = fmt::format("{}\n", Trimmed(task.question));
  for (std::size_t i = 0; i < task.choices.size(); ++i) {
    prompt += fmt::format("{}. {}\n", static_cast<char>('A' + i), task.choices[i]);
  }
  return prompt + "Answer:";
}

std::string ChoicePreface(std::span<const ChoiceTask> examples) {
  std::string preface = "The following are multiple choice questions (with answers).\n\n";
  for (const ChoiceTask& task : examples) {
    preface += fmt::format("{} {}\n\n", ChoicePrompt(task), static_cast<char>('A' + task.answer));
  }
  return preface;
}

}  // namespace vivace
