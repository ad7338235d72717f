// The ways in which a Python loses the hooks, read from outside.

#include "agent/launch/missing_hooks.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "agent/collect/scan.h"
#include "agent/collect/source.h"
#include "agent/host/thread_children.h"
#include "agent/launch/process_start.h"
#include "agent/launch/python_command.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostWalked = 128;
constexpr int kOldestMinor = 9;
constexpr std::size_t kLongestPath = 120;
constexpr std::string_view kInstall = "or install the package stepscope into this Python";

// A process, and what its Python was given at its start.
struct Suspect {
  const HooksWay& way;
  std::int64_t pid;
  PythonCommand python;
  Environment variable;

  std::string Path(std::string_view name) const {
    return Format("{}/proc/{}/{}", way.root, pid, name);
  }
};

bool Exists(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

std::string TargetOf(const std::string& link) {
  std::error_code unreadable;
  return fs::read_symlink(link, unreadable);
}

// An entry of PYTHONPATH as the process takes it.
std::string EntryOf(const Suspect& suspect, std::string_view entry) {
  if (entry.starts_with('/')) return std::string(entry);
  return Format("{}/{}", TargetOf(suspect.Path("cwd")), entry);
}

// The file of a module in a folder; "" where there is none.
std::string ModuleIn(const Suspect& suspect, const std::string& folder, std::string_view module) {
  for (const char* ending : {".py", "/__init__.py", ".pyc"}) {
    std::string file = Format("{}/{}{}", folder, module, ending);
    if (Exists(suspect.way.root + file)) return file;
  }
  return "";
}

bool IsOurs(const Suspect& suspect, std::string_view entry) {
  return entry == suspect.way.start_folder || entry.ends_with("/stepscope/_start");
}

// The module of this name that hides ours; "" where ours comes first.
std::string HiddenBy(const Suspect& suspect, std::string_view module) {
  const std::string path = suspect.variable("PYTHONPATH");
  for (const std::string_view entry : Split(path, ':')) {
    if (IsOurs(suspect, entry)) return "";
    std::string file = ModuleIn(suspect, EntryOf(suspect, entry), module);
    if (!file.empty()) return file;
  }
  return "";
}

// The program as the process named it, which in a virtual environment is a link in its folder.
std::string ProgramOf(const Suspect& suspect, const std::string& word) {
  if (word.find('/') != word.npos) return EntryOf(suspect, word);
  const std::string path = suspect.variable("PATH");
  for (const std::string_view folder : Split(path, ':')) {
    std::string program = Format("{}/{}", folder, word);
    if (Exists(suspect.way.root + program)) return program;
  }
  return "";
}

// A virtual environment has no user's site unless it has the system's.
bool HidesUserSite(const Suspect& suspect, const std::string& word) {
  const fs::path folder = fs::path(ProgramOf(suspect, word)).parent_path();
  for (const fs::path& place : {folder, folder.parent_path()}) {
    auto settings = Source::Open(suspect.way.root, (place / "pyvenv.cfg").native());
    const auto text = settings ? settings->Read() : Result<std::string_view>(settings.error());
    if (!text) continue;
    std::string lower(*text);
    std::ranges::transform(lower, lower.begin(),
                           [](unsigned char one) { return std::tolower(one); });
    std::erase(lower, ' ');
    return lower.find("include-system-site-packages=true") == lower.npos;
  }
  return false;
}

std::string HiddenReason(const Suspect& suspect, const std::string& word) {
  const std::string hidden = HiddenBy(suspect, "sitecustomize");
  if (hidden.empty()) return "";
  const bool second = !suspect.python.no_user_site &&
                      suspect.variable("PYTHONNOUSERSITE").empty() &&
                      !HidesUserSite(suspect, word) && HiddenBy(suspect, "usercustomize").empty();
  if (second) return "";  // through our usercustomize
  return Format("{} stands in front of ours in PYTHONPATH: let it import ours, {}",
                Printable(hidden, kLongestPath), kInstall);
}

std::string TakenAway(std::string_view name) {
  return Format("{} was taken away: let it keep the variables STEPSCOPE_...", name);
}

std::string PathReason(const Suspect& suspect, const std::string& word) {
  const std::string& ours = suspect.way.start_folder;
  const std::string path = suspect.variable("PYTHONPATH");
  const auto entries = Split(path, ':');
  if (suspect.way.switched_off) return "--no-python leaves them out";
  if (suspect.python.isolated || suspect.python.ignores_variables)
    return Format("{} ignores PYTHONPATH: leave it out, {}", suspect.python.isolated ? "-I" : "-E",
                  kInstall);
  const auto is_ours = [&](std::string_view entry) { return IsOurs(suspect, entry); };
  const bool has_job = !suspect.variable("STEPSCOPE_JOB").empty();
  if (std::ranges::any_of(entries, is_ours)) {
    return suspect.way.started_here && !has_job ? TakenAway("STEPSCOPE_JOB")
                                                : HiddenReason(suspect, word);
  }
  if (!suspect.way.started_here)
    return Format("the package stepscope is not in this Python: install it by pip{}",
                  ours.empty() ? "" : Format(", or put {} in front of PYTHONPATH", ours));
  if (ours.empty())
    return Format("the Python package is not beside stepscope-agent: put it there, {}", kInstall);
  if (!has_job)
    return "its environment was cleared: let it keep PYTHONPATH and the variables STEPSCOPE_...";
  if (path.empty()) return Format("PYTHONPATH was taken away: let it keep it, {}", kInstall);
  return Format("PYTHONPATH was replaced: put the new folders in front of the old, {}", kInstall);
}

// What is in the way of the marks, once the hooks are there.
std::string SocketReason(const Suspect& suspect) {
  const std::string& socket = suspect.way.socket;
  struct stat owner {};
  if (stat(suspect.Path("environ").c_str(), &owner) == 0 && owner.st_uid != suspect.way.user)
    return Format("it runs as user {}, and only user {} may connect to this agent", owner.st_uid,
                  suspect.way.user);
  if (!suspect.way.started_here) return "";
  const std::string given = suspect.variable("STEPSCOPE_SOCKET");
  if (given.empty() && !socket.empty()) return TakenAway("STEPSCOPE_SOCKET");
  if (socket.empty() || given != socket) return "";
  if (Exists(suspect.Path("root/")) && !Exists(suspect.Path("root") + socket))
    return Format("the agent's socket is not in its container: mount {} there",
                  Printable(socket.substr(0, socket.rfind('/')), kLongestPath));
  return "";
}

// What keeps the hooks out of this Python wherever the package is.
std::string OwnReason(const Suspect& suspect) {
  if (suspect.variable("STEPSCOPE_HOOKS") == "no") return "STEPSCOPE_HOOKS=no switches them off";
  if (suspect.python.no_site) return "-S leaves out site, which loads them: leave it out";
  const std::string executable = fs::path(TargetOf(suspect.Path("exe"))).filename();
  const auto minor = PythonMinorVersion(executable);
  if (minor && *minor < kOldestMinor)
    return Format("Python 3.{} is older than 3.{}, the oldest one that they know", *minor,
                  kOldestMinor);
  return "";
}

// What the memory maps say of a Python that has loaded torch.
struct LoadedTorch {
  fs::path packages;       // the folder of packages in which torch is installed
  bool stepscope = false;  // our extension is loaded, too: the package has found a way in
};

std::optional<LoadedTorch> ReadLoadedTorch(const Suspect& suspect) {
  auto maps = Source::Open(suspect.way.root, Format("/proc/{}/maps", suspect.pid));
  const auto text = maps ? maps->Read() : Result<std::string_view>(maps.error());
  if (!text) return std::nullopt;
  const std::size_t found = text->find("/torch/_C.");
  if (found == text->npos) return std::nullopt;
  const std::size_t line = text->rfind('\n', found) + 1;  // 0 in the first line
  const std::size_t begin = text->find('/', line);
  return LoadedTorch{fs::path(text->substr(begin, found - begin)),
                     text->find("/stepscope/_native.") != text->npos};
}

// Installed by pip the package comes in by itself.
bool IsInstalled(const Suspect& suspect, const fs::path& packages) {
  return !suspect.variable("STEPSCOPE_JOB").empty() &&
         Exists(suspect.way.root + (packages / "stepscope-hooks.pth").native());
}

bool IsServedByAnother(const Suspect& suspect) {
  const std::string socket = suspect.variable("STEPSCOPE_SOCKET");
  return !socket.empty() && !suspect.way.socket.empty() && socket != suspect.way.socket;
}

}  // namespace

std::string WhyWithoutHooks(const HooksWay& way, std::int64_t pid) {
  const ProcessStart start = ReadProcessStart(way.root, pid);
  const std::string executable =
      fs::path(TargetOf(Format("{}/proc/{}/exe", way.root, pid))).filename();
  const auto python = ParsePythonCommand(start.command, executable);
  const Suspect suspect{way, pid, python.value_or(PythonCommand()), start.environment};
  if (!python || access(suspect.Path("environ").c_str(), R_OK) != 0) return "";
  if (IsServedByAnother(suspect)) return "";
  const std::string own = OwnReason(suspect);
  const std::string path = own.empty() ? PathReason(suspect, start.command[0]) : "";
  const std::string socket = own.empty() ? SocketReason(suspect) : "";
  if (own.empty() && path.empty() && socket.empty()) return "";
  const auto torch = ReadLoadedTorch(suspect);
  if (!torch) return "";
  const bool found = torch->stepscope || IsInstalled(suspect, torch->packages);
  const std::string& reason = !own.empty() ? own : path.empty() || found ? socket : path;
  if (reason.empty()) return "";
  const bool named = way.names_script && !python->script.empty();
  return Format("{} (pid {}{}{}) runs torch without the hooks of Stepscope: {}", python->program,
                pid, named ? ", " : "", named ? python->script : "", reason);
}

std::string FindMissingHooks(const HooksWay& way, std::int64_t command,
                             std::span<const std::int64_t> heard) {
  std::vector<std::int64_t> pids = {command};
  for (std::size_t i = 0; i < std::min(pids.size(), kMostWalked); ++i) {
    if (std::ranges::count(heard, pids[i]) > 0) continue;
    if (std::string why = WhyWithoutHooks(way, pids[i]); !why.empty()) return why;
    auto children = ThreadChildren::Open(Format("{}/proc/{}/task", way.root, pids[i]));
    if (children) children->Into(pids);
  }
  return "";
}

}  // namespace stepscope
