#include "server/store/postgres_process.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

// Between fork and exec: only calls that are safe there. The signal comes after the change of user,
// which clears it, and a parent that died before is seen by its changed number.
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

// By the name it was started under, which stays when an upgrade of the package replaces the file;
// "exe" would then read "postgres (deleted)". Titles of backends do not change it.
bool RunsPostgres(const fs::path& process) {
  std::ifstream file(process / "comm");
  std::string name;
  std::getline(file, name);
  return name == "postgres";
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

std::vector<pid_t> PostgresIn(const std::string& folder) {
  std::vector<pid_t> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
    const Result<std::int64_t> pid = ParseInt(entry.path().filename().string(), "pid");
    if (!pid) continue;
    std::error_code unreadable;  // a zombie has no folder; others' we may not see
    const fs::path at = fs::read_symlink(entry.path() / "cwd", unreadable);
    if (unreadable || at != folder || !RunsPostgres(entry.path())) continue;
    found.push_back(static_cast<pid_t>(*pid));
  }
  return found;
}

bool IsTaken(pid_t pid) {
  return kill(pid, 0) == 0 || errno == EPERM;
}

}  // namespace stepscope
