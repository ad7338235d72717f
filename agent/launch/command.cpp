#include "agent/launch/command.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>

#include "core/base/text.h"

extern char** environ;

namespace stepscope {
namespace {

// The signals that are passed on to the command: all that a program may handle, but for faults of
// its own and for what the terminal says to background processes. Real-time signals come on top.
constexpr int kWatched[] = {SIGCHLD, SIGINT,    SIGTERM, SIGHUP,  SIGQUIT,  SIGUSR1,
                            SIGUSR2, SIGCONT,   SIGTSTP, SIGALRM, SIGWINCH, SIGPWR,
                            SIGIO,   SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ,  SIGURG};

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> CommandEnvironment(const CommandOptions& options) {
  std::map<std::string, std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != text.npos) entries.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  for (const std::string& name : options.hidden) entries.erase(name);
  for (const auto& [name, value] : options.environment) entries[name] = value;
  std::vector<std::string> environment;
  for (const auto& [name, value] : entries) environment.push_back(name + "=" + value);
  return environment;
}

// execvp reports a program that does not exist as forbidden when a folder of PATH is closed to this
// user.
bool IsNowhere(const std::string& program) {
  const char* path = std::getenv("PATH");
  if (path == nullptr || program.find('/') != program.npos) return false;
  return std::ranges::none_of(Split(path, ':'), [&](std::string_view folder) {
    return access(Format("{}/{}", folder, program).c_str(), F_OK) == 0;
  });
}

Error StartError(const std::string& program, int error) {
  const std::string name = Printable(program);
  if (error == ENOENT || IsNowhere(program)) return NotFound(Format("{}: command not found", name));
  return Invalid(Format("{}: cannot be executed: {}", name, std::strerror(error)));
}

// Runs in the new process: only calls that are safe after fork.
[[noreturn]] void Become(char* const* words, char* const* environment,
                         const CommandOptions& options, const CommandSignals& signals, int report) {
  if (options.standard_error >= 0) dup2(options.standard_error, STDERR_FILENO);
  if (options.standard_output >= 0) dup2(options.standard_output, STDOUT_FILENO);
  if (!signals.pipe_was_ignored()) signal(SIGPIPE, SIG_DFL);
  pthread_sigmask(SIG_SETMASK, &signals.mask_before(), nullptr);
  execvpe(words[0], words, environment);
  const int error = errno;
  [[maybe_unused]] const auto written = write(report, &error, sizeof error);
  _exit(127);
}

// Whether a shell waits for us at its terminal.
bool InForeground() {
  return getpid() != 1 && isatty(STDIN_FILENO) != 0 && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

}  // namespace

bool AsksToEnd(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGQUIT || signal == SIGHUP;
}

CommandSignals::CommandSignals() {
  pipe_was_ignored_ = signal(SIGPIPE, SIG_IGN) == SIG_IGN;
  signal(SIGCHLD, SIG_DFL);
  sigset_t watched;
  sigemptyset(&watched);
  for (const int signal : kWatched) sigaddset(&watched, signal);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) sigaddset(&watched, signal);
  pthread_sigmask(SIG_BLOCK, &watched, &before_);
  descriptor_ = Descriptor(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
}

std::optional<CommandSignals::Arrival> CommandSignals::Next() {
  signalfd_siginfo info{};
  if (read(descriptor_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  const bool by_process =
      info.ssi_code == SI_USER || info.ssi_code == SI_QUEUE || info.ssi_code == SI_TKILL;
  return Arrival{static_cast<int>(info.ssi_signo), by_process};
}

Result<ProfiledCommand> ProfiledCommand::Start(const CommandOptions& options,
                                               const CommandSignals& signals) {
  std::shared_ptr<SignalWitness> witness = SignalWitness::Start();
  std::vector<std::string> words = options.words;
  std::vector<std::string> environment = CommandEnvironment(options);
  const std::vector<char*> argv = Pointers(words), envp = Pointers(environment);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return Internal(Format("pipe: {}", std::strerror(errno)));
  const Descriptor read_end(report[0]);
  Descriptor write_end(report[1]);
  const pid_t pid = fork();
  if (pid < 0) return Internal(Format("fork: {}", std::strerror(errno)));
  if (pid == 0) {
    Become(argv.data(), envp.data(), options, signals, write_end.get());
  }
  write_end = Descriptor();
  int error = 0;
  ssize_t count;
  do {
    count = read(read_end.get(), &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  if (count != sizeof error) return ProfiledCommand(pid, std::move(witness));
  waitpid(pid, nullptr, 0);
  return StartError(options.words[0], error);
}

// Whether a signal that arrived here was sent to the command, too: to the process group, or by a
// batch system to each process. A command that has left the group is always told.
bool ProfiledCommand::HasIt(int signal) const {
  return witness_ != nullptr && getpgid(pid_) == getpgrp() && witness_->Saw(signal);
}

void ProfiledCommand::Forward(const CommandSignals::Arrival& arrival) const {
  // A signal of the terminal has reached the whole process group, the command included.
  if (arrival.sent_by_process && !HasIt(arrival.signal)) kill(pid_, arrival.signal);
  // The shell waits for us to stop as well.
  if (arrival.signal == SIGTSTP) raise(SIGSTOP);
}

std::optional<CommandEnd> ProfiledCommand::Ended() {
  int status = 0;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
    if (pid != pid_) continue;
    if (WIFSTOPPED(status) && InForeground()) raise(SIGSTOP);
    if (WIFSIGNALED(status)) end_ = CommandEnd{.signal = WTERMSIG(status)};
    if (WIFEXITED(status)) end_ = CommandEnd{.exit_code = WEXITSTATUS(status)};
  }
  return end_;
}

void ReapChildren() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

void AdoptOrphans() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int EndAs(const CommandEnd& end) {
  if (end.signal == 0 || getpid() == 1) return end.ShellCode();
  // The command has left its core file, if it was to leave one; ours would say nothing.
  const rlimit none{};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_DUMPABLE, 0);
  signal(end.signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, end.signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  raise(end.signal);
  return end.ShellCode();
}

}  // namespace stepscope
