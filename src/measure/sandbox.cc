#include "measure/sandbox.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "base/clock.h"

namespace vivace {
namespace {

namespace fs = std::filesystem;

constexpr int kNoPython = 127;
constexpr char kOfflineMark = '1';
constexpr std::size_t kMostOutput = std::size_t{64} << 10;

Failure SystemFailure(const char* what) {
  return Fail(ErrorKind::kIo, fmt::format("{}: {}", what, std::generic_category().message(errno)));
}

// A folder of its own, gone at the end with all that is in it.
class Folder {
 public:
  Folder() {
    std::error_code error;
    std::string pattern = fs::temp_directory_path(error) / "vivace-eval-XXXXXX";
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void SetLimit(int resource, std::int64_t value) {
  const rlimit limit = {static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
  setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

// The whole path of python3: by its name alone it would look for its own modules beside the
// first one of the child's PATH, which may be another. "" if there is none.
std::string PythonPath() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string candidate = folder + "/python3";
    if (folder.starts_with('/') && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

// In the child, between fork and exec: system calls only.
[[noreturn]] void Become(const char* python, const char* folder, const SandboxLimits& limits,
                         int output, int mark) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // A network namespace without a device; needs a user namespace unless we are root.
  const bool offline = unshare(CLONE_NEWNET) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
  if (offline) (void)!write(mark, &kOfflineMark, 1);
  close(mark);
  SetLimit(RLIMIT_CPU, static_cast<std::int64_t>(limits.seconds) + 1);
  SetLimit(RLIMIT_AS, limits.memory_bytes);
  SetLimit(RLIMIT_FSIZE, limits.file_bytes);
  SetLimit(RLIMIT_CORE, 0);
  SetLimit(RLIMIT_NOFILE, 64);
  if (chdir(folder) != 0) _exit(kNoPython);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  const char* arguments[] = {python, "-I", "-B", "program.py", nullptr};
  const char* environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=.", "LANG=C.UTF-8",
                               nullptr};
  execve(python, const_cast<char**>(arguments), const_cast<char**>(environment));
  _exit(kNoPython);
}

std::string LastLine(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text.substr(text.rfind('\n') + 1).substr(0, 200);
}

// Reads what the child says until it closes that; false when the end comes first.
bool Watch(int output, double end, const std::stop_token& cancel, std::string& text) {
  std::array<char, 4096> bytes{};
  while (NowMs() < end && !cancel.stop_requested()) {
    pollfd state = {.fd = output, .events = POLLIN, .revents = 0};
    if (poll(&state, 1, 50) <= 0) continue;
    const ssize_t count = read(output, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    text.append(bytes.data(), static_cast<std::size_t>(count));
    if (text.size() > kMostOutput) text.erase(0, text.size() - kMostOutput);
  }
  return false;
}

// Takes the child's status; false when it goes on for too long.
bool WaitUntil(double end, const std::stop_token& cancel, pid_t child, int& status) {
  while (true) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return true;
    if (NowMs() > end || cancel.stop_requested()) return false;
    poll(nullptr, 0, 1);
  }
}

void Reap(pid_t child, int& status) {
  kill(child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
}

SandboxEnd EndOf(bool ended, int status) {
  if (!ended || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)) return SandboxEnd::kTimedOut;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? SandboxEnd::kPassed : SandboxEnd::kFailed;
}

Result<void> WriteProgram(const std::string& path, const std::string& program) {
  std::ofstream file(path, std::ios::binary);
  file << program;
  file.close();
  if (!file) return Fail(ErrorKind::kIo, path + ": cannot be written");
  return {};
}

struct Pipe {
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    if (read_end >= 0) close(read_end);
    CloseWriteEnd();
  }
  bool Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
  void CloseWriteEnd() {
    if (write_end >= 0) close(write_end);
    write_end = -1;
  }

  int read_end = -1;
  int write_end = -1;
};

}  // namespace

Result<SandboxResult> RunPython(const std::string& program, const SandboxLimits& limits,
                                const std::stop_token& cancel) {
  const std::string python = PythonPath();
  const Folder folder;
  if (folder.path().empty()) return SystemFailure("no temporary folder");
  VIVACE_RETURN_IF_ERROR(WriteProgram(folder.path() + "/program.py", program));
  Pipe output;
  Pipe mark;
  if (!output.Open() || !mark.Open()) return SystemFailure("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    Become(python.c_str(), folder.path().c_str(), limits, output.write_end, mark.write_end);
  }
  if (child < 0) return SystemFailure("no process");
  output.CloseWriteEnd();
  mark.CloseWriteEnd();
  SandboxResult result;
  char offline = 0;
  result.offline = read(mark.read_end, &offline, 1) == 1;
  std::string text;
  const double end = NowMs() + 1000 * limits.seconds;
  int status = 0;
  const bool ended =
      Watch(output.read_end, end, cancel, text) && WaitUntil(end, cancel, child, status);
  kill(-child, SIGKILL);  // and whatever it has started
  if (!ended) Reap(child, status);
  if (cancel.stop_requested()) return Fail(ErrorKind::kCancelled, "the evaluation was stopped");
  const int code = ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == kNoPython && text.empty())
    return Fail(ErrorKind::kUnsupported, "python3 is needed for code tasks and is not there");
  result.last_line = LastLine(std::move(text));
  result.end = EndOf(ended, status);
  return result;
}

}  // namespace vivace
