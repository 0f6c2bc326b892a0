// From what a model has written to a program that tests it.
#pragma once

#include <string>
#include <string_view>

#include "measure/eval_tasks.h"

namespace vivace {

// The first block between ``` marks, without its language; the whole text where there is none.
std::string CodeBlock(std::string_view answer);

// A program that ends with 0 if the answer passes the task's test. `whole`: the answer has the
// task's prompt in it already.
std::string ProgramOf(const CodeTask& task, std::string_view answer, bool whole);

}  // namespace vivace
