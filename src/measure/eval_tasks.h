// Tasks: questions from a user's file: multiple choice or code to write.
//
// Read are the formats that the well-known sets come in: MMLU, CMMLU and C-Eval as CSV (with or
// without a header) or as lines of JSON, HumanEval as lines of JSON. What is wrong is said with
// file and line.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace vivace {

struct ChoiceTask {
  std::string id;
  std::string question;
  std::vector<std::string> choices;  // 2 to 26
  std::size_t answer = 0;            // the right one's index
};

struct CodeTask {
  std::string id;
  std::string prompt;       // the beginning of a program, to be continued
  std::string test;         // defines check(candidate)
  std::string entry_point;  // the function that is checked
};

// One of the two lists is empty.
struct TaskFile {
  std::string path;
  std::uint64_t hash = 0;  // of its bytes
  std::vector<ChoiceTask> choices;
  std::vector<CodeTask> programs;
};

// By the name's end: .csv, .jsonl (or .json with one object a line).
Result<TaskFile> ReadTasks(const std::string& path);
// The same of a text; `path` is for the name's end and for messages.
Result<TaskFile> ParseTasks(const std::string& path, std::string_view text);

// The question as models are asked it: the choices by letter, "Answer:" at the end.
std::string ChoicePrompt(const ChoiceTask& task);
// What comes before a question: that there are questions, and examples with their answers.
std::string ChoicePreface(std::span<const ChoiceTask> examples);

}  // namespace vivace
