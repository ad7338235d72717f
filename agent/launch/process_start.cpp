#include "agent/launch/process_start.h"

#include <cstdlib>

#include "agent/collect/source.h"
#include "core/base/text.h"
#include "core/model/names.h"

namespace stepscope {
namespace {

std::string ReadFile(const std::string& root, std::int64_t pid, std::string_view name) {
  auto file = Source::Open(root, Format("/proc/{}/{}", pid, name));
  if (!file) return "";
  const auto text = file->Read();
  return text ? std::string(*text) : "";
}

std::vector<std::string> Words(std::string_view text) {
  if (text.ends_with('\0')) text.remove_suffix(1);
  if (text.empty()) return {};
  const auto parts = Split(text, '\0');
  return {parts.begin(), parts.end()};
}

// A list of GPUs that is set and empty allows none, for which CUDA and ROCm take "-1", too.
std::string ValueOf(std::string_view name, std::string value) {
  const bool lists = name == "CUDA_VISIBLE_DEVICES" || name == "HIP_VISIBLE_DEVICES" ||
                     name == "ROCR_VISIBLE_DEVICES";
  return lists && Trim(value).empty() ? "-1" : value;
}

Environment EnvironmentOf(std::string text) {
  return [entries = Words(text)](std::string_view name) -> std::string {
    for (const std::string& entry : entries) {
      if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
        return ValueOf(name, entry.substr(name.size() + 1));
    }
    return "";
  };
}

}  // namespace

std::string OwnVariable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value == nullptr ? "" : ValueOf(name, value);
}

ProcessStart ReadProcessStart(const std::string& root, std::int64_t pid) {
  return {.command = Words(ReadFile(root, pid, "cmdline")),
          .environment = EnvironmentOf(ReadFile(root, pid, "environ"))};
}

Result<JobNames> NamesOfProcess(const std::string& said, const Environment& environment) {
  JobNames names{.job = said, .group = environment("STEPSCOPE_GROUP")};
  if (names.job.empty()) names.job = environment("STEPSCOPE_JOB");
  const LaunchNames launch = NamesOfLaunch(environment);
  if (names.job.empty()) names.job = launch.job;
  if (names.group.empty() && names.job == launch.job) names.group = launch.group;
  if (names.job.empty()) {
    return Invalid(Format("no job: set STEPSCOPE_JOB, or start it by one of {}", KnownLaunchers()));
  }
  names.job = AllowedJobName(std::move(names.job));
  if (const Status good = CheckJobName(names.job); !good) return good.error();
  if (!names.group.empty() && !CheckLabel("group", names.group)) names.group.clear();
  return names;
}

// Two threads of PyTorch make its client at once: https://github.com/pytorch/pytorch/issues/163545
std::string KinetoNote(const Environment& environment) {
  const std::string value = environment("KINETO_USE_DAEMON");
  if (value.empty() || value == "0") return "";
  return "KINETO_USE_DAEMON is set, with which PyTorch may crash when it starts: unset it, "
         "nothing here needs it";
}

}  // namespace stepscope
