#include "server/postgres/postgres_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/text.h"
#include "server/postgres/ballast.h"
#include "server/postgres/postgres_roles.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

// "<folder>/.s.PGSQL.5432" must fit into 107 bytes.
constexpr std::size_t kLongestSocketDir = 90;

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Error Wrong(const std::string& path, std::string_view what) {
  return Invalid(Format("data folder: {}: {}", path, what));
}

Status MakeFolder(const std::string& path, const ServiceUser& owner, mode_t mode) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return Wrong(path, std::strerror(errno));
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    return Wrong(path, "is not a folder");
  }
  if (owner.change && status.st_uid != owner.uid &&
      lchown(path.c_str(), owner.uid, owner.gid) != 0) {
    return Wrong(path, std::strerror(errno));
  }
  if ((status.st_mode & 07777) != mode && chmod(path.c_str(), mode) != 0) {
    return Wrong(path, std::strerror(errno));
  }
  return {};
}

// The service user must be able to reach the cluster.
Status CheckReachable(const fs::path& folder, const ServiceUser& user) {
  for (fs::path at = folder;; at = at.parent_path()) {
    struct stat status {};
    if (stat(at.c_str(), &status) != 0) return Wrong(at.string(), std::strerror(errno));
    const mode_t needed = status.st_uid == user.uid   ? S_IXUSR
                          : status.st_gid == user.gid ? S_IXGRP
                                                      : S_IXOTH;
    if ((status.st_mode & needed) == 0) {
      return Wrong(
          folder.string(),
          Format("PostgreSQL runs as user {}, who cannot enter {}; choose a folder such as "
                 "/var/lib/stepscope",
                 user.name, at.string()));
    }
    if (at == at.root_path()) return {};
  }
}

std::string LastLines(std::string_view text, std::size_t most) {
  std::vector<std::string_view> lines = Split(Trim(text), '\n');
  if (lines.size() > most) lines.erase(lines.begin(), lines.end() - static_cast<long>(most));
  std::string joined;
  for (const std::string_view line : lines)
    joined += (joined.empty() ? "" : " / ") + Printable(line);
  return joined;
}

}  // namespace

PostgresFolder::PostgresFolder(PostgresFolder&& other) noexcept
    : root_(std::move(other.root_)),
      durable_(other.durable_),
      lock_(std::exchange(other.lock_, -1)),
      programs_(std::move(other.programs_)),
      user_(std::move(other.user_)) {}

PostgresFolder::~PostgresFolder() {
  if (lock_ >= 0) close(lock_);
}

Result<PostgresFolder> PostgresFolder::Open(const std::string& data_dir,
                                            const std::string& pg_bindir, bool durable) {
  PostgresFolder folder;
  folder.durable_ = durable;
  std::error_code error;
  fs::create_directories(data_dir, error);
  folder.root_ = fs::canonical(data_dir, error).string();
  if (error) return Wrong(data_dir, error.message());
  if (Status locked = folder.Lock(); !locked) return locked.error();
  if (Status prepared = folder.Prepare(pg_bindir); !prepared) return prepared.error();
  return folder;
}

Status PostgresFolder::Lock() {
  const std::string path = root_ + "/postgres.lock";
  lock_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock_ < 0) return Wrong(path, std::strerror(errno));
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    return Unavailable(
        Format("data folder {} is in use by process {}", root_, Printable(Trim(ReadText(path)))));
  }
  SpendBallastWhenFull(root_);  // later steps write a few bytes, and so does every start
  const std::string pid = Format("{}\n", getpid());
  if (ftruncate(lock_, 0) != 0 || pwrite(lock_, pid.data(), pid.size(), 0) < 0) {
    return Wrong(path, std::strerror(errno));
  }
  return {};
}

Status PostgresFolder::Prepare(const std::string& pg_bindir) {
  Result<ServiceUser> user = ChooseServiceUser(cluster());
  if (!user) return user.error();
  user_ = *user;
  if (socket_dir().size() > kLongestSocketDir) {
    return Wrong(root_, Format("the path is longer than {} bytes, too long for a unix socket",
                               kLongestSocketDir - 7));
  }
  const ServiceUser self{geteuid(), getegid(), "", false};
  if (Status made = MakeFolder(root_, self, user_.change ? 0711 : 0700); !made) return made;
  if (Status made = MakeFolder(socket_dir(), user_, 0700); !made) return made;
  if (user_.change) {
    if (Status reachable = CheckReachable(root_, user_); !reachable) return reachable;
  }
  std::optional<int> major;
  if (const auto made_by = ParseInt(Trim(ReadText(cluster() + "/PG_VERSION")), "version");
      made_by) {
    major = static_cast<int>(*made_by);
  } else if (fs::exists(cluster())) {
    return Wrong(cluster(), "is not a PostgreSQL cluster: it has no PG_VERSION");
  }
  Result<PostgresPrograms> programs = FindPostgres(pg_bindir, major);
  if (!programs) return programs.error();
  programs_ = *programs;
  if (!major) {
    if (Status made = MakeCluster(); !made) return made;
  }
  return WriteAccess();
}

Status PostgresFolder::MakeCluster() const {
  const std::string fresh = root_ + "/postgres.new";
  std::error_code error;
  fs::remove_all(fresh, error);
  if (Status made = MakeFolder(fresh, user_, 0700); !made) return made;
  ProgramCall call;
  call.arguments = {programs_.folder + "/initdb",
                    "-D",
                    fresh,
                    "-U",
                    kSuperuserRole,
                    "--auth=peer",
                    "--data-checksums",
                    "--encoding=UTF8",
                    "--locale=C"};
  if (!durable_) call.arguments.push_back("--no-sync");
  call.environment = {"PATH=" + programs_.folder + ":/usr/bin:/bin", "LC_ALL=C"};
  call.log_path = log_path();
  call.user = user_;
  const Result<pid_t> child = StartProgram(call);
  if (!child) return child.error();
  std::string exit;
  if (!AwaitEnd(*child, 120s, &exit)) {
    kill(*child, SIGKILL);
    (void)AwaitEnd(*child, 10s, &exit);
  }
  if (exit != "exit code 0") return Wrong(fresh, Format("initdb: {}: {}", exit, LastLogLines()));
  fs::rename(fresh, cluster(), error);
  if (error) return Wrong(cluster(), error.message());
  return {};
}

// The socket is in a folder that only the service user and root may enter, and the kernel tells who
// connects.
Status PostgresFolder::WriteAccess() const {
  std::string ident = "# Made at each start.\n";
  for (const char* role : {kServiceRole, kSuperuserRole}) {
    ident += Format("stepscope root {}\n", role);
    if (user_.name != "root") ident += Format("stepscope \"{}\" {}\n", user_.name, role);
  }
  std::ofstream(ident_path(), std::ios::trunc) << ident;
  std::ofstream(hba_path(), std::ios::trunc)
      << "# Made at each start.\nlocal all all peer map=stepscope\n";
  for (const std::string& path : {ident_path(), hba_path()}) {
    if (chmod(path.c_str(), 0644) != 0) return Wrong(path, std::strerror(errno));
  }
  return {};
}

std::string PostgresFolder::OutOfRoom(std::uintmax_t& read) const {
  std::ifstream file(log_path(), std::ios::binary);
  file.seekg(static_cast<std::streamoff>(read));
  std::string found;
  for (std::string line; std::getline(file, line);) {
    read += line.size() + (file.eof() ? 0 : 1);
    const bool ends = line.find("PANIC:") != line.npos || line.find("FATAL:") != line.npos;
    if (ends && line.find(std::strerror(ENOSPC)) != line.npos) found = line;
  }
  return found;
}

std::string PostgresFolder::LastLogLines() const {
  return LastLines(ReadText(log_path()), 4);
}

bool PostgresFolder::IsReady() const {
  constexpr int kStatusLine = 8;
  std::ifstream file(cluster() + "/postmaster.pid");
  std::string line;
  for (int number = 0; number < kStatusLine; ++number) std::getline(file, line);
  return line.starts_with("ready");
}

}  // namespace stepscope
