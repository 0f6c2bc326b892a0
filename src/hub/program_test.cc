#include "hub/program.h"

#include <csignal>
#include <thread>

#include "base/testing.h"

namespace vivace {
namespace {

class ProgramTest : public testing::Test {
 protected:
  ProgramTest() : tree_(testing::UnitTest::GetInstance()->current_test_info()->name()) {}

  Result<void> Run(std::vector<std::string> words, const std::stop_token& stop = {}) {
    return RunProgram({.words = std::move(words),
                       .folder = tree_.root(),
                       .variables = {"PART=7"},
                       .while_running = [this] { ++polls_; }},
                      stop);
  }

  FileTree tree_;
  int polls_ = 0;
};

TEST_F(ProgramTest, RunsInItsFolderWithItsVariables) {
  const auto run =
      Run({"python3", "-I", "-c", "import os; open('out', 'w').write(os.environ['PART'])"});
  ASSERT_TRUE(run.has_value()) << run.error().message;
  EXPECT_EQ(std::filesystem::file_size(tree_.root() + "out"), 1U);
  EXPECT_FALSE(std::filesystem::exists(tree_.root() + "messages"));
}

TEST_F(ProgramTest, ArgumentsMeetNoShell) {
  EXPECT_TRUE(Run({"python3", "-I", "-c", "import sys; sys.exit(sys.argv[1] != '$(x); `y` *')",
                   "$(x); `y` *"})
                  .has_value());
}

TEST_F(ProgramTest, AFailureHasTheProgramsLastWords) {
  const auto run =
      Run({"python3", "-I", "-c", "import sys; sys.exit('first\\nno such package\\n')"});
  ASSERT_FALSE(run.has_value());
  EXPECT_EQ(run.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(run.error().message, "python3 failed: no such package");
}

TEST_F(ProgramTest, AMissingProgramIsNamed) {
  const auto run = Run({"no-such-program"});
  ASSERT_FALSE(run.has_value());
  EXPECT_NE(run.error().message.find("no-such-program cannot be run"), std::string::npos);
}

// The helper of the helper writes "late" when it is not ended with it.
TEST_F(ProgramTest, AStopEndsTheProgramAndItsHelpers) {
  std::stop_source stop;
  const std::jthread stopper([&] {
    while (!std::filesystem::exists(tree_.root() + "started")) std::this_thread::yield();
    stop.request_stop();
  });
  const auto run = Run({"python3", "-I", "-c",
                        "import subprocess, sys\n"
                        "inner = \"import time; open('started', 'w').close(); time.sleep(60)\"\n"
                        "sys.exit(subprocess.call([sys.executable, '-I', '-c', inner]))"},
                       stop.get_token());
  ASSERT_FALSE(run.has_value());
  EXPECT_EQ(run.error().kind, ErrorKind::kCancelled);
  EXPECT_GT(polls_, 0);
}

TEST_F(ProgramTest, BlockedSignalsAreNotInherited) {
  sigset_t interrupts;
  sigset_t before;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupts, &before);
  const auto run = Run(
      {"python3", "-I", "-c", "import signal, sys; sys.exit(len(signal.pthread_sigmask(0, [])))"});
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_TRUE(run.has_value()) << run.error().message;
}

}  // namespace
}  // namespace vivace
