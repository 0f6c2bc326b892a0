// The program's commands: one file each.
//
// To add one: write app/<name>.cc with Add<Name>, declare it here and call it in
// main.cc. Add<Name> describes the flags and, in the subcommand's callback, puts the
// work into the slot; main runs it and turns an Error into one line and an exit code.
#pragma once

#include <functional>

#include <CLI/CLI.hpp>

#include "base/result.h"

namespace vivace {

inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInterrupted = 130;

struct CommandSlot {
  std::function<Result<int>()> body;  // returns the exit code
};

void AddRun(CLI::App& app, CommandSlot& slot);
void AddTokenize(CLI::App& app, CommandSlot& slot);
void AddDetokenize(CLI::App& app, CommandSlot& slot);
void AddServe(CLI::App& app, CommandSlot& slot);
void AddEval(CLI::App& app, CommandSlot& slot);
void AddPull(CLI::App& app, CommandSlot& slot);
void AddList(CLI::App& app, CommandSlot& slot);
void AddShow(CLI::App& app, CommandSlot& slot);
void AddRemove(CLI::App& app, CommandSlot& slot);
void AddDoctor(CLI::App& app, CommandSlot& slot);
void AddBench(CLI::App& app, CommandSlot& slot);
void AddTune(CLI::App& app, CommandSlot& slot);
void AddProfiles(CLI::App& app, CommandSlot& slot);
void AddCompletion(CLI::App& app, CommandSlot& slot);

}  // namespace vivace
