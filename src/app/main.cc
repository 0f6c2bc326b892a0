#include <cstdio>
#include <exception>
#include <new>

#include <fmt/format.h>

#include "app/commands.h"
#include "app/interrupts.h"

namespace vivace {
namespace {

// Wrong use: the reason in one line, and where to read on.
int ReportUsage(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  fmt::print(stderr, "vivace: {} (see vivace --help)\n", error.what());
  return kExitUsage;
}

int Main(int argc, char** argv) {
  CLI::App app("Instant answers from small language models, on the CPU that is already there.",
               "vivace");
  app.set_version_flag("--version", std::string("vivace ") + VIVACE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  vivace run qwen2.5-0.5b-instruct\n"
      "  vivace run qwen2.5-coder-0.5b-instruct -p 'Reverse a string in C.'\n"
      "  vivace pull smollm2-135m-instruct\n"
      "Environment: VIVACE_HOME (models and caches), VIVACE_KERNELS (instruction set),\n"
      "  VIVACE_CATALOGUE (a JSON file with more models).");
  CommandSlot slot;
  AddRun(app, slot);
  AddServe(app, slot);
  AddPull(app, slot);
  AddList(app, slot);
  AddShow(app, slot);
  AddRemove(app, slot);
  AddTokenize(app, slot);
  AddDetokenize(app, slot);
  AddEval(app, slot);
  AddDoctor(app, slot);
  AddBench(app, slot);
  AddTune(app, slot);
  AddProfiles(app, slot);
  AddCompletion(app, slot);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ReportUsage(app, error);
  }
  WatchInterrupts();
  const auto code = slot.body();
  if (code) return *code;
  if (code.error().kind == ErrorKind::kCancelled) return kExitInterrupted;
  fmt::print(stderr, "vivace: {}\n", code.error().message);
  return kExitFailed;
}

}  // namespace
}  // namespace vivace

int main(int argc, char** argv) {
  try {
    return vivace::Main(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("vivace: out of memory\n", stderr);
    return vivace::kExitFailed;
  } catch (const std::exception& error) {
    // A library threw where none was expected to: no thread could be started, for one.
    std::fprintf(stderr, "vivace: %s\n", error.what());
    return vivace::kExitFailed;
  }
}
