// The variables that say which GPUs a process may use, in the forms of each vendor.

#include "agent/launch/process_gpus.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "core/base/text.h"

namespace stepscope {
namespace {

using Gpus = std::vector<GpuFacts>;

// A name of the Container Device Interface without its beginning: "1" for "nvidia.com/gpu=1".
std::string_view WithoutCdi(std::string_view word) {
  constexpr std::string_view kBeginning = "nvidia.com/gpu=";
  if (word.starts_with(kBeginning)) word.remove_prefix(kBeginning.size());
  return word;
}

// The GPUs that Slurm gives, by the node's own numbers. They go before CUDA's numbers, which may
// count only the GPUs that the process sees.
std::string GivenBySlurm(const Environment& environment) {
  for (const char* name : {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS"}) {
    if (std::string given = environment(name); !given.empty()) return given;
  }
  return "";
}

bool IsNamed(const GpuFacts& gpu, std::size_t index, std::string_view word) {
  // Older drivers have MIG-GPU-<the GPU>/<instance>/<part of it>.
  if (word.starts_with("MIG-GPU-")) word = word.substr(4, word.find('/') - 4);
  if (word.starts_with("GPU-")) return gpu.uuid.starts_with(word);
  if (word.starts_with("MIG-")) {
    return std::ranges::any_of(gpu.instances, [&](const auto& one) { return one == word; });
  }
  // The number of a GPU, and behind it the number of a part: "0.1" for Intel, "0:1" for MIG.
  word = word.substr(0, word.find(gpu.vendor == GpuVendor::kIntel ? '.' : ':'));
  return word == Format("{}", index);
}

const GpuFacts* Find(std::string_view word, const Gpus& gpus) {
  const auto known = std::ranges::find_if(gpus, [&](const GpuFacts& gpu) {
    return IsNamed(gpu, static_cast<std::size_t>(&gpu - gpus.data()), word);
  });
  return known == gpus.end() ? nullptr : &*known;
}

bool Holds(const Gpus& gpus, const GpuFacts& one) {
  return std::ranges::count(gpus, one.device, &GpuFacts::device) > 0;
}

// The number at the beginning of a word, which is all that CUDA reads of it; "" where there is
// none.
std::string CudaNumberIn(std::string_view word) {
  const std::size_t end = std::min(word.find_first_not_of("0123456789"), word.size());
  const auto number = ParseInt(word.substr(0, end), "GPU");
  return number ? Format("{}", *number) : "";
}

// The GPUs that CUDA's variable names, as CUDA reads it: the first word that is no GPU ends the
// list, and a number that stands twice makes it empty. Nothing where a word may be an instance of
// MIG that the driver does not list.
std::optional<Gpus> NamedByCuda(const std::string& given, const Gpus& gpus) {
  Gpus named;
  std::optional<bool> by_name;
  for (std::string_view word : Split(given, ',')) {
    word = Trim(word);
    const bool mig = word.starts_with("MIG-"), name = mig || word.starts_with("GPU-");
    if (by_name.value_or(name) != name) break;
    by_name = name;
    const GpuFacts* gpu = Find(name ? std::string(word) : CudaNumberIn(word), gpus);
    const auto unlisted = [](const GpuFacts& one) {
      return one.mig.value_or(false) && one.instances.empty();
    };
    if (gpu == nullptr && mig && std::ranges::any_of(gpus, unlisted)) return std::nullopt;
    if (gpu == nullptr) break;
    const bool twice = Holds(named, *gpu);
    if (twice && !name) return Gpus();
    if (!twice) named.push_back(*gpu);
  }
  return named;
}

// The GPUs that a variable's words name; nothing when one of them does not exist.
std::optional<Gpus> Named(const std::string& given, const Gpus& gpus) {
  Gpus named;
  for (std::string_view word : Split(given, ',')) {
    word = Trim(word);
    // CUDA stops at such a word, too.
    if (word.empty() || word.starts_with('-') || word == "NoDevFiles") break;
    const GpuFacts* known = Find(WithoutCdi(word), gpus);
    if (known == nullptr) return std::nullopt;
    if (!Holds(named, *known)) named.push_back(*known);
  }
  return named;
}

Gpus InOrder(const Gpus& some, const Gpus& all) {
  Gpus in_order;
  std::ranges::copy_if(all, std::back_inserter(in_order),
                       [&](const GpuFacts& gpu) { return Holds(some, gpu); });
  return in_order;
}

// The GPUs that Slurm gives, and of them those that CUDA may use. Its numbers are the node's own,
// or count the GPUs of the job where Slurm hides the others: where both may be meant, all that
// Slurm gives. Nothing where it gives none that are known.
std::optional<Gpus> NamedBySlurm(const Environment& environment, const std::string& visible,
                                 const Gpus& gpus) {
  const std::string slurm = GivenBySlurm(environment);
  auto given = slurm.empty() ? std::nullopt : Named(slurm, gpus);
  if (!given || visible.empty()) return given;
  const auto counted = Named(visible, InOrder(*given, gpus)), own = Named(visible, gpus);
  const bool within =
      own && std::ranges::all_of(*own, [&](const GpuFacts& gpu) { return Holds(*given, gpu); });
  if (!counted && !within) return NamedByCuda(visible, InOrder(*given, gpus));
  if (!counted || !within) return counted ? counted : own;
  return std::ranges::equal(*counted, *own, {}, &GpuFacts::device, &GpuFacts::device) ? own : given;
}

// The GPUs that a container gives, by the node's numbers or by name, and of these the ones that
// CUDA may use: its numbers count within the container. Nothing where the variable names none
// ("all", "void"), or CUDA's numbers do not fit to it: outside of containers nobody reads it.
std::optional<Gpus> NamedInContainer(const Environment& environment, const std::string& visible,
                                     const Gpus& gpus) {
  const std::string given = environment("NVIDIA_VISIBLE_DEVICES");
  if (given == "none") return Gpus();
  const bool mig = WithoutCdi(given).starts_with("MIG-") || given.find(':') != given.npos;
  // "void" is what the Container Device Interface sets, too, which gives GPUs by itself.
  if (given.empty() || given.ends_with("all") || given == "void") return std::nullopt;
  auto named = Named(given, gpus);
  // CUDA counts the instances of MIG, not the GPUs.
  if (!named || visible.empty() || mig) return named;
  return Named(visible, InOrder(*named, gpus));
}

bool HasNvidia(const Gpus& gpus) {
  return std::ranges::count(gpus, GpuVendor::kNvidia, &GpuFacts::vendor) > 0;
}

// The variables that narrow down a vendor's GPUs, one after the other: ROCm's numbers for HIP count
// the GPUs that ROCR leaves, and it reads CUDA's variable, too, which on a node with both is
// NVIDIA's. What a script has set since its start goes before its environment.
std::vector<std::string> Narrowings(GpuVendor vendor, const Environment& environment,
                                    const std::string& visible, bool nvidia) {
  if (vendor == GpuVendor::kNvidia) return {visible};
  if (vendor == GpuVendor::kIntel) return {environment("ZE_AFFINITY_MASK")};
  const std::string hip = environment("HIP_VISIBLE_DEVICES");
  const bool own = !visible.empty() && visible != environment("CUDA_VISIBLE_DEVICES");
  return {environment("ROCR_VISIBLE_DEVICES"), !nvidia && (own || hip.empty()) ? visible : hip};
}

// The GPUs as Intel's mask counts them: unless the hierarchy is COMPOSITE, or the mask names tiles
// of a GPU ("0.1"), it counts the tiles of all GPUs.
Gpus CountedByMask(const Environment& environment, const Gpus& gpus) {
  const bool whole = environment("ZE_FLAT_DEVICE_HIERARCHY") == "COMPOSITE" ||
                     environment("ZE_AFFINITY_MASK").find('.') != std::string::npos;
  Gpus counted;
  for (const GpuFacts& gpu : gpus) counted.insert(counted.end(), whole ? 1 : gpu.tiles, gpu);
  return counted;
}

// The GPUs that the vendors' variables name. A vendor without a variable has none where another
// vendor's are named: the process uses those.
std::optional<Gpus> NamedByVendors(const Environment& environment, const std::string& visible,
                                   const Gpus& gpus) {
  Gpus all;
  bool said = false;
  const bool nvidia = HasNvidia(gpus);
  for (const GpuVendor vendor : {GpuVendor::kNvidia, GpuVendor::kAmd, GpuVendor::kIntel}) {
    Gpus left;
    std::ranges::copy_if(gpus, std::back_inserter(left),
                         [&](const GpuFacts& gpu) { return gpu.vendor == vendor; });
    if (left.empty()) continue;
    bool narrowed = false;
    for (const std::string& given : Narrowings(vendor, environment, visible, nvidia)) {
      if (given.empty()) continue;
      if (vendor == GpuVendor::kIntel) left = CountedByMask(environment, left);
      auto named = vendor == GpuVendor::kNvidia ? NamedByCuda(given, left) : Named(given, left);
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

std::vector<std::string> GpusOfProcess(const Environment& environment, const std::string& visible,
                                       const std::vector<GpuFacts>& gpus,
                                       const std::vector<GpuFacts>& openable) {
  auto named = NamedBySlurm(environment, visible, gpus);
  if (!named) named = NamedInContainer(environment, visible, gpus);
  if (!named) named = NamedByVendors(environment, visible, openable);
  std::vector<std::string> devices;
  for (const GpuFacts& gpu : named ? *named : openable) devices.push_back(gpu.device);
  return devices;
}

}  // namespace stepscope
