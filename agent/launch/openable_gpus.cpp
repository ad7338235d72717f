#include "agent/launch/openable_gpus.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "agent/collect/scan.h"
#include "agent/collect/source.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

// "/dev/nvidia2", whose number the driver tells: it is not always NVML's.
std::string NvidiaFile(const std::string& root, const GpuFacts& gpu) {
  constexpr std::size_t kAddress = std::string_view("0000:c1:00.0").size();
  if (gpu.pci_address.size() < kAddress) return "";
  // NVML's domain has four digits more.
  std::string address = gpu.pci_address.substr(gpu.pci_address.size() - kAddress);
  std::ranges::transform(address, address.begin(),
                         [](unsigned char one) { return std::tolower(one); });
  auto source = Source::Open(root, Format("/proc/driver/nvidia/gpus/{}/information", address));
  auto text = source ? source->Read() : Result<std::string_view>(source.error());
  std::string_view line;
  while (text && TakeLine(*text, line)) {
    constexpr std::string_view kName = "Device Minor:";
    if (line.starts_with(kName)) return Format("/dev/nvidia{}", Trim(line.substr(kName.size())));
  }
  return "";
}

// "/dev/dri/renderD129", which programs open to compute.
std::string DrmFile(const std::string& root, const GpuFacts& gpu) {
  std::error_code failed;
  std::filesystem::directory_iterator entry(
      Format("{}/sys/class/drm/{}/device/drm", root, gpu.device), failed);
  for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    const std::string name = entry->path().filename();
    if (name.starts_with("renderD")) return "/dev/dri/" + name;
  }
  return "";
}

// Asks for the right without opening the file, which would wake a sleeping card.
bool MayOpen(const std::string& root, std::int64_t pid, const std::string& file) {
  const std::string own = root + file;
  if (pid == 0) return access(own.c_str(), R_OK | W_OK) == 0 || (errno != EPERM && errno != ENOENT);
  const std::string within = Format("{}/proc/{}/root", root, pid);
  const bool known = access(own.c_str(), F_OK) == 0 && access((within + "/dev").c_str(), F_OK) == 0;
  return !known || access((within + file).c_str(), F_OK) == 0 || errno != ENOENT;
}

}  // namespace

std::vector<GpuFacts> OpenableGpus(const std::string& root, std::int64_t pid,
                                   const std::vector<GpuFacts>& gpus) {
  std::vector<GpuFacts> openable;
  std::ranges::copy_if(gpus, std::back_inserter(openable), [&](const GpuFacts& gpu) {
    const std::string file =
        gpu.vendor == GpuVendor::kNvidia ? NvidiaFile(root, gpu) : DrmFile(root, gpu);
    return file.empty() || MayOpen(root, pid, file);
  });
  return openable;
}

}  // namespace stepscope
