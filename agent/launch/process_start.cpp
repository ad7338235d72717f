#include "agent/launch/process_start.h"

#include <algorithm>

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

Environment EnvironmentOf(std::string text) {
  return [entries = Words(text)](std::string_view name) -> std::string {
    for (const std::string& entry : entries) {
      if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
        return entry.substr(name.size() + 1);
    }
    return "";
  };
}

// Numbers of the node's own count, or names of GPUs. CUDA's numbers count what the process sees,
// which inside a batch system's fence or a container is less than the node has: hence the last.
std::string GivenGpus(const Environment& environment, const std::string& visible) {
  for (const char* name : {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS"}) {
    if (const std::string given = environment(name); !given.empty()) return given;
  }
  const std::string container = environment("NVIDIA_VISIBLE_DEVICES");
  return container.starts_with("GPU-") ? container : visible;
}

bool IsNamed(const GpuFacts& gpu, std::size_t index, std::string_view word) {
  if (word.starts_with("GPU-")) return gpu.uuid.starts_with(word);
  return word == Format("{}", index);
}

}  // namespace

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
  if (const Status good = CheckJobName(names.job); !good) return good.error();
  if (!names.group.empty() && !CheckLabel("group", names.group)) names.group.clear();
  return names;
}

std::vector<std::string> GpusOfProcess(const Environment& environment, const std::string& visible,
                                       const std::vector<GpuFacts>& gpus) {
  const std::string given = GivenGpus(environment, visible);
  std::vector<std::string> devices;
  for (const GpuFacts& gpu : gpus) devices.push_back(gpu.device);
  if (given.empty()) return devices;
  std::vector<std::string> named;
  for (std::string_view word : Split(given, ',')) {
    word = Trim(word);
    // CUDA stops there, too.
    if (word.empty() || word.starts_with('-')) break;
    const auto known = std::ranges::find_if(gpus, [&](const GpuFacts& gpu) {
      return IsNamed(gpu, static_cast<std::size_t>(&gpu - gpus.data()), word);
    });
    if (known == gpus.end()) return devices;
    named.push_back(known->device);
  }
  return named;
}

}  // namespace stepscope
