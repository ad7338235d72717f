#pragma once

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/descriptor.h"
#include "tests/support/process_output.h"

extern char** environ;

namespace stepscope::test {

// The program stepscope-agent of this build, running in a process group of its own.
class AgentProcess {
 public:
  // With pipes for its output.
  explicit AgentProcess(std::vector<std::string> words) {
    int out[2], err[2];
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
    const std::vector<char*> argv = Words(words);
    const std::string program = Program();
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    const sigset_t usual = UsuallyIgnored();
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    if (posix_spawn(&pid_, program.c_str(), &actions, &attributes, argv.data(), environ) != 0) {
      std::abort();
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    close(err[1]);
    out_.Follow(Descriptor(out[0]));
    err_.Follow(Descriptor(err[0]));
  }

  // In a terminal of its own of this size, as its controlling one.
  AgentProcess(std::vector<std::string> words, int rows, int columns) {
    winsize size{};
    size.ws_row = static_cast<unsigned short>(rows);
    size.ws_col = static_cast<unsigned short>(columns);
    const std::vector<char*> argv = Words(words);
    const std::string program = Program();
    pid_ = forkpty(&terminal_, nullptr, nullptr, &size);
    if (pid_ < 0) std::abort();
    if (pid_ == 0) {
      for (const int each : {SIGHUP, SIGINT, SIGQUIT}) signal(each, SIG_DFL);
      execv(program.c_str(), argv.data());
      _exit(126);
    }
    fcntl(terminal_, F_SETFD, FD_CLOEXEC);
    out_.Follow(Descriptor(fcntl(terminal_, F_DUPFD_CLOEXEC, 0)));
  }

  ~AgentProcess() {
    kill(-pid_, SIGKILL);  // the group, with processes that a failed test leaves
    if (!reaped_) {
      kill(pid_, SIGKILL);  // in a terminal it may not have a group yet
      waitpid(pid_, nullptr, 0);
    }
    if (terminal_ >= 0) close(terminal_);
  }

  static std::string Program() {
    const auto self = std::filesystem::read_symlink("/proc/self/exe");
    return self.parent_path().parent_path() / "stepscope-agent";
  }

  void Signal(int signal) const { kill(pid_, signal); }
  void Type(std::string_view text) const {
    [[maybe_unused]] const auto written = write(terminal_, text.data(), text.size());
  }
  void Resize(int rows, int columns) const {
    winsize size{};
    size.ws_row = static_cast<unsigned short>(rows);
    size.ws_col = static_cast<unsigned short>(columns);
    ioctl(terminal_, TIOCSWINSZ, &size);
  }
  pid_t pid() const { return pid_; }

  // Its exit code, or minus the signal that ended it.
  int Wait() {
    if (!Ends()) {
      ADD_FAILURE() << "the agent does not end, and said:\n" << err();
      Signal(SIGKILL);
    }
    int status = 0;
    waitpid(pid_, &status, 0);
    reaped_ = true;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }

  std::string out() const { return out_.Get(); }
  std::string err() const { return err_.Get(); }

  // Waits until standard output or error contains the text; false when both ended without it.
  bool WaitForOut(std::string_view text) const { return out_.WaitFor(text); }
  bool WaitForErr(std::string_view text) const { return err_.WaitFor(text); }
  // Waits until every writer is gone.
  void WaitForEnd() const {
    out_.WaitForEnd();
    err_.WaitForEnd();
  }

 private:
  // Signals that a shell ignores which puts the tests into the background; the program is to find
  // its own defaults.
  static sigset_t UsuallyIgnored() {
    sigset_t set;
    sigemptyset(&set);
    for (const int each : {SIGHUP, SIGINT, SIGQUIT}) sigaddset(&set, each);
    return set;
  }

  std::vector<char*> Words(std::vector<std::string> words) {
    // Without a spool, or one test's frames could be delivered by another.
    setenv("STEPSCOPE_SPOOL", "none", 0);
    words_ = std::move(words);
    words_.insert(words_.begin(), "stepscope-agent");
    std::vector<char*> pointers;
    for (std::string& word : words_) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
  }

  bool Ends() const {
    const Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    pollfd ended{process.get(), POLLIN, 0};
    return poll(&ended, 1, std::chrono::milliseconds(kLongestWait).count()) > 0;
  }

  std::vector<std::string> words_;
  pid_t pid_ = -1;
  bool reaped_ = false;
  int terminal_ = -1;
  ProcessOutput out_, err_;
};

}  // namespace stepscope::test
