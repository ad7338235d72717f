#include "server/postgres/postgres_process.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/clock.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

constexpr Duration kPoll = 10ms;

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Runs between fork and exec, so with async-signal-safe calls only. The signal is set after the
// change of user, which clears it; a parent that died before is noticed by its changed number.
[[noreturn]] void BecomeProgram(const ProgramCall& call, int log, pid_t parent, char** arguments,
                                char** environment) {
  setsid();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  const int empty = open("/dev/null", O_RDONLY);
  if (dup2(empty, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0) _exit(126);
  close_range(3, ~0U, 0);
  const ServiceUser& user = call.user;
  if (user.change && (setgroups(0, nullptr) != 0 || setresgid(user.gid, user.gid, user.gid) != 0 ||
                      setresuid(user.uid, user.uid, user.uid) != 0)) {
    _exit(126);
  }
  if (call.ends_with_us) {
    prctl(PR_SET_PDEATHSIG, SIGINT);
    if (getppid() != parent) _exit(126);
  }
  umask(077);
  if (chdir("/") != 0) _exit(126);
  execve(arguments[0], arguments, environment);
  _exit(127);
}

// The name that the process was started under, of 15 letters, which stays when an upgrade of the
// package replaces the file, and the name of its file, which then reads "postgres (deleted)".
// Titles of backends change neither.
std::vector<std::string> NamesOf(const fs::path& process) {
  std::ifstream file(process / "comm");
  std::string started;
  std::getline(file, started);
  std::error_code unreadable;
  return {started, fs::read_symlink(process / "exe", unreadable).filename().string()};
}

// Some packages have a link "postmaster".
bool IsPostgres(const std::string& name) {
  return name == "postgres" || name == "postmaster" || name == "postgres (deleted)";
}

bool LooksLikePostgres(const std::string& name) {
  return name.find("postgres") != std::string::npos || name.find("postmaster") != std::string::npos;
}

}  // namespace

Result<ServiceUser> ChooseServiceUser(const std::string& folder) {
  if (geteuid() != 0) {
    const passwd* self = getpwuid(geteuid());
    return ServiceUser{geteuid(), getegid(), self ? self->pw_name : "", false};
  }
  const passwd* found = nullptr;
  struct stat status {};
  if (stat(folder.c_str(), &status) == 0 && status.st_uid != 0) found = getpwuid(status.st_uid);
  for (const char* name : {"stepscope", "postgres", "nobody"}) {
    if (!found) found = getpwnam(name);
  }
  if (!found) return Invalid("PostgreSQL does not run as root, and there is no user \"postgres\"");
  return ServiceUser{found->pw_uid, found->pw_gid, found->pw_name, true};
}

Result<pid_t> StartProgram(const ProgramCall& call) {
  const int log = open(call.log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0) return Invalid(Format("{}: {}", call.log_path, std::strerror(errno)));
  const std::vector<char*> arguments = Pointers(call.arguments);
  const std::vector<char*> environment = Pointers(call.environment);
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child == 0) {
    BecomeProgram(call, log, self, const_cast<char**>(arguments.data()),
                  const_cast<char**>(environment.data()));
  }
  const int error = errno;
  close(log);
  if (child < 0) return Unavailable(Format("{}: {}", call.arguments[0], std::strerror(error)));
  return child;
}

bool HasEnded(pid_t child, std::string* exit) {
  int status = 0;
  const pid_t reaped = waitpid(child, &status, WNOHANG);
  if (reaped == 0) return false;
  if (exit) {
    *exit = reaped < 0            ? "unknown end"
            : WIFSIGNALED(status) ? Format("signal {}", WTERMSIG(status))
                                  : Format("exit code {}", WEXITSTATUS(status));
  }
  return true;
}

bool AwaitEnd(pid_t child, Duration at_most, std::string* exit) {
  const SteadyTime until = SystemClock().Steady() + at_most;
  while (!HasEnded(child, exit)) {
    if (SystemClock().Steady() >= until) return false;
    std::this_thread::sleep_for(kPoll);
  }
  return true;
}

pid_t ServerOf(const std::string& folder) {
  std::ifstream file(folder + "/postmaster.pid");
  std::string line;
  std::getline(file, line);
  const Result<std::int64_t> pid = ParseInt(Trim(line), "pid");
  return pid && *pid > 1 ? static_cast<pid_t>(*pid) : 0;
}

std::vector<pid_t> PostgresIn(const std::string& folder, pid_t server) {
  std::vector<pid_t> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
    const Result<std::int64_t> number = ParseInt(entry.path().filename().string(), "pid");
    const pid_t pid = number ? static_cast<pid_t>(*number) : 0;
    if (pid == 0 || !WorksIn(pid, folder)) continue;
    const auto known = pid == server ? LooksLikePostgres : IsPostgres;
    if (std::ranges::any_of(NamesOf(entry.path()), known)) found.push_back(pid);
  }
  return found;
}

bool WorksIn(pid_t pid, const std::string& folder) {
  std::error_code unreadable;  // a zombie has no folder; other users' folders we may not see
  return fs::read_symlink(Format("/proc/{}/cwd", pid), unreadable) == folder && !unreadable;
}

bool IsTaken(pid_t pid) {
  return kill(pid, 0) == 0 || errno == EPERM;
}

}  // namespace stepscope
