#include "server/postgres/postgres_programs.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <vector>

#include "core/base/text.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

constexpr int kOldest = 14;

// A folder with one folder for each version: the beginning of its name, and the path inside it.
struct VersionedFolder {
  const char* parent;
  const char* prefix;
  const char* rest;
};
constexpr VersionedFolder kVersioned[] = {
    {"/usr/lib/postgresql", "", "/bin"},          // Debian, Ubuntu
    {"/usr", "pgsql-", "/bin"},                   // PGDG packages for Fedora, RHEL
    {"/usr/libexec", "postgresql", ""},           // Alpine
    {"/opt/homebrew/opt", "postgresql", "/bin"},  // Homebrew
    {"/home/linuxbrew/.linuxbrew/opt", "postgresql", "/bin"},
    {"/usr/local/opt", "postgresql", "/bin"},
};
constexpr const char* kPlain[] = {"/usr/bin", "/usr/local/pgsql/bin", "/usr/local/bin"};

std::vector<std::string> Candidates() {
  std::vector<std::string> found;
  for (const VersionedFolder& folder : kVersioned) {
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder.parent, none)) {
      if (!entry.path().filename().string().starts_with(folder.prefix)) continue;
      found.push_back(entry.path().string() + folder.rest);
    }
  }
  found.insert(found.end(), std::begin(kPlain), std::end(kPlain));
  if (const char* conda = std::getenv("CONDA_PREFIX")) found.push_back(std::string(conda) + "/bin");
  if (const char* path = std::getenv("PATH")) {
    for (const std::string_view folder : Split(path, ':')) found.emplace_back(folder);
  }
  return found;
}

bool IsProgram(const std::string& path) {
  return access(path.c_str(), X_OK) == 0;
}

// The version that a program of PostgreSQL prints; 0 when the program is missing.
int MajorOf(const std::string& program) {
  if (!IsProgram(program)) return 0;
  if (program.find('\'') != std::string::npos) return 0;  // would end the quotes below
  const auto close = [](FILE* stream) { pclose(stream); };
  const std::unique_ptr<FILE, decltype(close)> out(
      popen(Format("'{}' --version 2>/dev/null", program).c_str(), "re"), close);
  int major = 0;  // postgres (PostgreSQL) 15.8 (Debian 15.8-0+deb12u1)
  if (!out || std::fscanf(out.get(), "%*s %*s %d", &major) != 1) return 0;
  return major;
}

// 0 when there is no PostgreSQL in the folder.
int MajorIn(const std::string& folder) {
  return IsProgram(folder + "/initdb") ? MajorOf(folder + "/postgres") : 0;
}

std::vector<std::string> FoldersFor(const std::string& folder) {
  return folder.empty() ? Candidates() : std::vector<std::string>{folder};
}

}  // namespace

Result<PostgresPrograms> FindPostgres(const std::string& folder, std::optional<int> major) {
  PostgresPrograms best;
  for (const std::string& candidate : FoldersFor(folder)) {
    const int here = MajorIn(candidate);
    if (here > best.major && (!major || here == *major)) best = {candidate, here};
  }
  if (best.major >= kOldest) return best;
  if (!folder.empty() && !major) {
    return Invalid(Format("{}: no initdb and postgres of PostgreSQL {} or later", folder, kOldest));
  }
  if (major) {
    return Invalid(
        Format("the data folder was made by PostgreSQL {0}, which is not installed{1}; "
               "install package postgresql-{0}, or move the data with pg_upgrade",
               *major, folder.empty() ? "" : " in " + folder));
  }
  return Invalid(
      Format("no PostgreSQL {} or later found; install package postgresql (Debian, "
             "Ubuntu), postgresql-server (Fedora) or name its folder with --pg-bindir",
             kOldest));
}

Result<std::string> FindPostgresTool(const std::string& folder, const std::string& name,
                                     int major) {
  std::string best;
  int best_major = 0;
  for (const std::string& candidate : FoldersFor(folder)) {
    const std::string program = candidate + "/" + name;
    const int here = MajorOf(program);
    if (here == major) return program;
    if (here > std::max(best_major, major)) {
      best = program;
      best_major = here;
    }
  }
  if (!best.empty()) return best;
  return Invalid(
      Format("no {0} of PostgreSQL {1} or later found{2}; install package postgresql-client-{1} "
             "(Debian, Ubuntu), postgresql (Fedora) or name its folder with --pg-bindir",
             name, major, folder.empty() ? "" : " in " + folder));
}

}  // namespace stepscope
