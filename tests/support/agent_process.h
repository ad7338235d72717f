#pragma once

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/descriptor.h"

extern char** environ;

namespace stepscope::test {

// The program stepscope-agent of this build, running.
class AgentProcess {
 public:
  // With pipes for its output.
  explicit AgentProcess(std::vector<std::string> words) {
    int out[2], err[2];
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
    const std::vector<char*> argv = Words(words);
    const std::string program = Program();
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    const sigset_t usual = UsuallyIgnored();
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    if (posix_spawn(&pid_, program.c_str(), &actions, &attributes, argv.data(), environ) != 0) {
      std::abort();
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    close(err[1]);
    Follow(out[0], out_);
    Follow(err[0], err_);
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
    Follow(dup(terminal_), out_);
  }

  ~AgentProcess() {
    if (!reaped_) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    for (std::thread& reader : readers_) reader.join();
    if (terminal_ >= 0) close(terminal_);
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
    int status = 0;
    waitpid(pid_, &status, 0);
    reaped_ = true;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }

  std::string out() const { return out_.Get(); }
  std::string err() const { return err_.Get(); }

  // Until standard output or error contains the text; false when both ended without it.
  bool WaitForOut(std::string_view text) const { return out_.WaitFor(text); }
  bool WaitForErr(std::string_view text) const { return err_.WaitFor(text); }
  // Until everybody who could write is gone.
  void WaitForEnd() const {
    out_.WaitForEnd();
    err_.WaitForEnd();
  }

 private:
  class Stream {
   public:
    void Add(std::string_view bytes) {
      std::lock_guard lock(mutex_);
      text_ += bytes;
      changed_.notify_all();
    }
    void End() {
      std::lock_guard lock(mutex_);
      ended_ = true;
      changed_.notify_all();
    }
    std::string Get() const {
      std::lock_guard lock(mutex_);
      return text_;
    }
    bool WaitFor(std::string_view text) const {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ended_ || text_.find(text) != text_.npos; });
      return text_.find(text) != text_.npos;
    }
    void WaitForEnd() const {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ended_; });
    }

   private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::string text_;
    bool ended_ = false;
  };

  // By a shell that puts the tests into the background; the program is to find its own defaults.
  static sigset_t UsuallyIgnored() {
    sigset_t set;
    sigemptyset(&set);
    for (const int each : {SIGHUP, SIGINT, SIGQUIT}) sigaddset(&set, each);
    return set;
  }

  static std::string Program() {
    const auto self = std::filesystem::read_symlink("/proc/self/exe");
    return self.parent_path().parent_path() / "stepscope-agent";
  }

  std::vector<char*> Words(std::vector<std::string> words) {
    // What one test leaves is nothing that another may deliver.
    setenv("STEPSCOPE_SPOOL", "none", 0);
    words_ = std::move(words);
    words_.insert(words_.begin(), "stepscope-agent");
    std::vector<char*> pointers;
    for (std::string& word : words_) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
  }

  void Follow(int fd, Stream& stream) {
    readers_.emplace_back([fd = Descriptor(fd), &stream] {
      char bytes[4096];
      ssize_t count;
      while ((count = read(fd.get(), bytes, sizeof bytes)) > 0) {
        stream.Add({bytes, static_cast<std::size_t>(count)});
      }
      stream.End();
    });
  }

  std::vector<std::string> words_;
  pid_t pid_ = -1;
  bool reaped_ = false;
  int terminal_ = -1;
  Stream out_, err_;
  std::vector<std::thread> readers_;
};

}  // namespace stepscope::test
