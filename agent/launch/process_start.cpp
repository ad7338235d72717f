#include "agent/launch/process_start.h"

#include <algorithm>
#include <iterator>
#include <optional>

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

using Gpus = std::vector<GpuFacts>;

// The GPUs that a batch system or container gives, by the node's own numbers or by name. It comes
// first, because CUDA's numbers count the GPUs that the process sees, which there are fewer than
// the node's.
std::string GivenToAll(const Environment& environment) {
  for (const char* name : {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS"}) {
    if (std::string given = environment(name); !given.empty()) return given;
  }
  std::string container = environment("NVIDIA_VISIBLE_DEVICES");
  const bool names = container.starts_with("GPU-") || container.starts_with("MIG-");
  return names ? container : "";
}

bool IsNamed(const GpuFacts& gpu, std::size_t index, std::string_view word) {
  // Older drivers have MIG-GPU-<the GPU>/<instance>/<part of it>.
  if (word.starts_with("MIG-GPU-")) word = word.substr(4, word.find('/') - 4);
  if (word.starts_with("GPU-")) return gpu.uuid.starts_with(word);
  if (word.starts_with("MIG-")) {
    return std::ranges::any_of(gpu.instances, [&](const auto& one) { return one == word; });
  }
  // Intel's words are the number of a GPU, and behind a point a part of it.
  if (gpu.vendor == GpuVendor::kIntel) word = word.substr(0, word.find('.'));
  return word == Format("{}", index);
}

// The GPUs that a variable's words name; nothing when one of them does not exist.
std::optional<Gpus> Named(const std::string& given, const Gpus& gpus) {
  Gpus named;
  for (std::string_view word : Split(given, ',')) {
    word = Trim(word);
    // CUDA stops at such a word, too.
    if (word.empty() || word.starts_with('-')) break;
    const auto known = std::ranges::find_if(gpus, [&](const GpuFacts& gpu) {
      return IsNamed(gpu, static_cast<std::size_t>(&gpu - gpus.data()), word);
    });
    if (known == gpus.end()) return std::nullopt;
    const auto same = [&](const GpuFacts& gpu) { return gpu.device == known->device; };
    if (std::ranges::none_of(named, same)) named.push_back(*known);
  }
  return named;
}

// The variables that narrow down a vendor's GPUs, one after the other: ROCm's numbers for HIP count
// the GPUs that ROCR leaves, and it reads CUDA's variable, too, which on a node with both is
// NVIDIA's.
std::vector<std::string> Narrowings(GpuVendor vendor, const Environment& environment,
                                    const std::string& visible, bool nvidia) {
  if (vendor == GpuVendor::kNvidia) return {visible};
  if (vendor == GpuVendor::kIntel) return {environment("ZE_AFFINITY_MASK")};
  const std::string hip = environment("HIP_VISIBLE_DEVICES");
  return {environment("ROCR_VISIBLE_DEVICES"), hip.empty() && !nvidia ? visible : hip};
}

// The GPUs that the vendors' variables name. A vendor without a variable has none where another
// vendor's are named: the process uses those.
std::optional<Gpus> NamedByVendors(const Environment& environment, const std::string& visible,
                                   const Gpus& gpus) {
  Gpus all;
  bool said = false;
  const bool nvidia = std::ranges::any_of(
      gpus, [](const GpuFacts& gpu) { return gpu.vendor == GpuVendor::kNvidia; });
  for (const GpuVendor vendor : {GpuVendor::kNvidia, GpuVendor::kAmd, GpuVendor::kIntel}) {
    Gpus left;
    std::ranges::copy_if(gpus, std::back_inserter(left),
                         [&](const GpuFacts& gpu) { return gpu.vendor == vendor; });
    if (left.empty()) continue;
    bool narrowed = false;
    for (const std::string& given : Narrowings(vendor, environment, visible, nvidia)) {
      if (given.empty()) continue;
      auto named = Named(given, left);
      if (!named) return std::nullopt;
      left = std::move(*named);
      narrowed = true;
    }
    if (narrowed) std::ranges::move(left, std::back_inserter(all));
    said = said || narrowed;
  }
  return said ? std::optional(all) : std::nullopt;
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
  const std::string given = GivenToAll(environment);
  const auto named =
      given.empty() ? NamedByVendors(environment, visible, gpus) : Named(given, gpus);
  std::vector<std::string> devices;
  for (const GpuFacts& gpu : named ? *named : gpus) devices.push_back(gpu.device);
  return devices;
}

// Two threads of PyTorch make its client at once: https://github.com/pytorch/pytorch/issues/163545
std::string KinetoNote(const Environment& environment) {
  const std::string value = environment("KINETO_USE_DAEMON");
  if (value.empty() || value == "0") return "";
  return "KINETO_USE_DAEMON is set, with which PyTorch may crash when it starts: unset it, "
         "nothing here needs it";
}

}  // namespace stepscope
