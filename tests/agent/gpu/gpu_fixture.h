#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>

#include "agent/collect/collector.h"
#include "agent/gpu/nvidia.h"
#include "tests/support/gpu/fake_nvml.h"

namespace stepscope::test {

// The file of a fake of this build: fake_nvml or fake_nvml_old.
inline std::string FakeNvmlFile(const std::string& version = "fake_nvml") {
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  return self.parent_path() / version / kNvmlName;
}

// The test's side of that library, reset to the values it was loaded with.
inline FakeNvml& ScriptOf(const std::string& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_NODELETE);
  EXPECT_NE(library, nullptr) << dlerror();
  return *reinterpret_cast<ResetFakeNvml*>(dlsym(library, "reset_fake_nvml"))();
}

// Runs the collector of NVIDIA GPUs against the fake, at times that the test chooses. By its clock
// the driver answers at once.
struct GpuBench {
  // Only a hang makes readings late, so all others may wait for them.
  static constexpr NvmlPatience kPatient{10s, 10s, 10s};

  explicit GpuBench(unsigned gpus = 1, const std::string& version = "fake_nvml",
                    const NvmlPatience& patience = kPatient, bool charges = false)
      : file(FakeNvmlFile(version)), script(ScriptOf(file)) {
    script.count = gpus;
    script.charges = charges;
    auto made = MakeNvidiaCollector(file, patience, [] { return SteadyTime(); });
    EXPECT_TRUE(made.ok()) << made.error().message;
    if (made) collector = std::move(*made);
  }

  Status At(Duration since_start) {
    row.Clear();
    return collector->Collect(SteadyTime(1h) + since_start, row);
  }
  double operator()(std::string_view metric, std::string_view device = "gpu0") const {
    return row.At(metric, device);
  }
  bool Missing(std::string_view metric, std::string_view device = "gpu0") const {
    return std::isnan(row.At(metric, device));
  }

  std::string file;
  FakeNvml& script;
  TickRow row;
  std::unique_ptr<Collector> collector;
};

}  // namespace stepscope::test
