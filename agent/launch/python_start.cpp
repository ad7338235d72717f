#include "agent/launch/python_start.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "core/base/text.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

// Relative to the program's folder: bin of a package or tarball, build/PRESET of a source tree.
constexpr const char* kPlaces[] = {"../share/stepscope/python", "../../python"};
constexpr const char* kStart = "stepscope/_start";

}  // namespace

std::string PythonStartFolder(const std::string& program) {
  if (program.empty()) return "";
  for (const char* place : kPlaces) {
    std::error_code unreadable;
    const fs::path folder =
        fs::weakly_canonical(fs::path(program).parent_path() / place / kStart, unreadable);
    // A colon separates the entries of PYTHONPATH and cannot be escaped.
    if (unreadable || folder.native().find(':') != std::string::npos) continue;
    if (access((folder / "sitecustomize.py").c_str(), R_OK) == 0) return folder;
  }
  return "";
}

std::string OwnProgram() {
  std::error_code unreadable;
  return fs::read_symlink("/proc/self/exe", unreadable);
}

std::vector<std::pair<std::string, std::string>> PythonVariables(const std::string& folder,
                                                                 const Environment& environment) {
  if (folder.empty()) return {};
  const std::string path = environment("PYTHONPATH");
  if (path.empty()) return {{"PYTHONPATH", folder}};
  const auto entries = Split(path, ':');
  if (std::ranges::find(entries, folder) != entries.end()) return {};
  return {{"PYTHONPATH", Format("{}:{}", folder, path)}};
}

}  // namespace stepscope
