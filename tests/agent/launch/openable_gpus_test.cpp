#include "agent/launch/openable_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/text.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct OpenableGpusTest : testing::Test {
  std::vector<std::string> Openable(std::int64_t pid) const {
    std::vector<std::string> devices;
    for (const GpuFacts& gpu : OpenableGpus(root.path(), pid, gpus)) devices.push_back(gpu.device);
    return devices;
  }
  void WriteNvidia(const char* address, int minor) const {
    root.Write(Format("/proc/driver/nvidia/gpus/{}/information", address),
               Format("Model: \t\t NVIDIA H100\nDevice Minor: \t {}\n", minor));
    root.Write(Format("/dev/nvidia{}", minor), "");
  }

  test::FakeRoot root;
  std::vector<GpuFacts> gpus = {{.device = "gpu0", .pci_address = "00000000:1B:00.0"},
                                {.device = "gpu1", .pci_address = "00000000:43:00.0"}};
};

TEST_F(OpenableGpusTest, AreAllWhereNoDriverTells) {
  EXPECT_THAT(Openable(0), ElementsAre("gpu0", "gpu1"));
  gpus = {{.device = "card1", .vendor = GpuVendor::kAmd}};
  EXPECT_THAT(Openable(0), ElementsAre("card1"));
  EXPECT_THAT(Openable(7), ElementsAre("card1"));
}

TEST_F(OpenableGpusTest, AreThoseOfTheProcesssContainer) {
  WriteNvidia("0000:1b:00.0", 1);
  WriteNvidia("0000:43:00.0", 0);
  EXPECT_THAT(Openable(7), ElementsAre("gpu0", "gpu1")) << "its /dev cannot be read";
  root.Write("/proc/7/root/dev/nvidia0", "");
  EXPECT_THAT(Openable(7), ElementsAre("gpu1"));
  root.MakeFolder("/proc/8/root/dev");
  EXPECT_THAT(Openable(8), IsEmpty());
  EXPECT_THAT(Openable(0), ElementsAre("gpu0", "gpu1"));
}

// The kernel shows all cards of the machine in each container.
TEST_F(OpenableGpusTest, OfThisContainerAreTheCardsWithAFile) {
  gpus = {{.device = "card1", .vendor = GpuVendor::kAmd},
          {.device = "card2", .vendor = GpuVendor::kIntel}};
  root.MakeFolder("/sys/class/drm/card1/device/drm/renderD128");
  root.MakeFolder("/sys/class/drm/card2/device/drm/renderD129");
  root.Write("/dev/dri/renderD129", "");
  EXPECT_THAT(Openable(0), ElementsAre("card2"));
  std::filesystem::remove(root.path() + "/dev/dri/renderD129");
  EXPECT_THAT(Openable(0), IsEmpty());
}

}  // namespace
}  // namespace stepscope
