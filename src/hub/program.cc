#include "hub/program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "hub/disk.h"

namespace vivace {
namespace {

constexpr std::chrono::milliseconds kPoll(100);
constexpr std::size_t kMaxLine = 300;

// posix_spawn's settings: streams, working folder, and signals as in a new process.
// The program leads a group of its own, so that ending it ends its helpers.
class SpawnSettings {
 public:
  SpawnSettings(const std::string& folder, const std::string& messages) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, messages.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  Result<pid_t> Spawn(std::vector<std::string>& words, std::vector<std::string>& variables) const {
    pid_t child = 0;
    const int code =
        posix_spawnp(&child, words[0].c_str(), &actions_, &attributes_,
                     Pointers(words, nullptr).data(), Pointers(variables, environ).data());
    if (code == 0) return child;
    return Fail(ErrorKind::kNotFound, fmt::format("{} cannot be run: {}", words[0],
                                                  std::generic_category().message(code)));
  }

 private:
  static std::vector<char*> Pointers(std::vector<std::string>& own, char** more) {
    std::vector<char*> pointers(own.size());
    std::transform(own.begin(), own.end(), pointers.begin(),
                   [](std::string& text) { return text.data(); });
    for (; more != nullptr && *more != nullptr; ++more) pointers.push_back(*more);
    pointers.push_back(nullptr);
    return pointers;
  }

  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

std::string LastLine(const std::string& path) {
  std::ifstream file(path);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  }
  return last.substr(0, kMaxLine);
}

// Whether the child has ended; it is left to be waited for, so its id stays taken.
bool HasEnded(pid_t child) {
  siginfo_t info = {};
  const int code = waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
  return (code == 0 && info.si_pid == child) || (code != 0 && errno != EINTR);
}

}  // namespace

Result<void> RunProgram(Program program, const std::stop_token& stop) {
  const std::string messages = program.folder + "/messages";
  const auto child =
      SpawnSettings(program.folder, messages).Spawn(program.words, program.variables);
  if (!child) return Failure(child.error());
  while (!HasEnded(*child)) {
    if (stop.stop_requested()) kill(-*child, SIGKILL);
    program.while_running();
    std::this_thread::sleep_for(kPoll);
  }
  int status = 0;
  waitpid(*child, &status, 0);
  if (stop.stop_requested()) return Fail(ErrorKind::kCancelled, program.words[0] + ": interrupted");
  const std::string last = LastLine(messages);
  RemoveFile(messages);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return Fail(ErrorKind::kNotFound, fmt::format("{} failed: {}", program.words[0],
                                                last.empty() ? "it says nothing" : last));
}

}  // namespace vivace
