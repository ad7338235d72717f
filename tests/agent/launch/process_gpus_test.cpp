#include "agent/launch/process_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace stepscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using GpuVariables = std::map<std::string, std::string, std::less<>>;

Environment WithVariables(const GpuVariables& variables) {
  return [variables](std::string_view name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  };
}

class GpusOfProcessTest : public testing::Test {
 protected:
  std::vector<std::string> Gpus(const GpuVariables& variables, const std::string& visible) const {
    return GpusOfProcess(WithVariables(variables), visible, gpus_, gpus_);
  }
  std::vector<GpuFacts> gpus_ = {{.device = "gpu0", .uuid = "GPU-aa11"},
                                 {.device = "gpu1", .uuid = "GPU-bb22"},
                                 {.device = "gpu2", .uuid = "GPU-cc33"}};
};

TEST_F(GpusOfProcessTest, AreAllWhereNobodySays) {
  EXPECT_THAT(Gpus({}, ""), ElementsAre("gpu0", "gpu1", "gpu2"));
}

TEST_F(GpusOfProcessTest, AreThoseThatCudaMayUse) {
  EXPECT_THAT(Gpus({}, "2, 0"), ElementsAre("gpu2", "gpu0"));
  EXPECT_THAT(Gpus({}, "GPU-bb"), ElementsAre("gpu1"));
  EXPECT_THAT(Gpus({}, "1,-1,2"), ElementsAre("gpu1"));
  EXPECT_THAT(Gpus({}, "-1"), IsEmpty());
}

TEST_F(GpusOfProcessTest, EndAtTheFirstWordThatCudaDoesNotTakeForAGpu) {
  EXPECT_THAT(Gpus({}, "1,9,0"), ElementsAre("gpu1"));
  EXPECT_THAT(Gpus({}, "1,GPU-cc"), ElementsAre("gpu1"));
  EXPECT_THAT(Gpus({}, "02,1x"), ElementsAre("gpu2", "gpu1"));  // CUDA reads the number of a word
  EXPECT_THAT(Gpus({}, "1,1"), IsEmpty());
  for (const char* none : {"9", "none", "None", "cpu", "all", "\"1\"", "GPU-dd", "MIG-9999", ",1"})
    EXPECT_THAT(Gpus({}, none), IsEmpty()) << none;
}

TEST_F(GpusOfProcessTest, AreAllWhereAnInstanceMayBeOfAnyOfThem) {
  gpus_[0].mig = true;
  EXPECT_EQ(Gpus({}, "MIG-9999").size(), 3u);
}

TEST_F(GpusOfProcessTest, AreTheParentsOfTheirInstances) {
  gpus_[1].instances = {"MIG-1111", "MIG-2222"};
  EXPECT_THAT(Gpus({}, "MIG-2222"), ElementsAre("gpu1"));
  EXPECT_THAT(Gpus({}, "MIG-1111,MIG-2222"), ElementsAre("gpu1"));
  EXPECT_THAT(Gpus({}, "MIG-GPU-cc33/1/0"), ElementsAre("gpu2"));
  EXPECT_THAT(Gpus({{"NVIDIA_VISIBLE_DEVICES", "MIG-1111"}}, "0"), ElementsAre("gpu1"));
  EXPECT_THAT(Gpus({}, "MIG-GPU-"), ElementsAre("gpu0"));  // a prefix of all their names
  EXPECT_THAT(Gpus({}, "MIG-3333"), IsEmpty());
}

TEST_F(GpusOfProcessTest, AreThoseThatRocmMayUse) {
  gpus_ = {{.device = "card1", .vendor = GpuVendor::kAmd},
           {.device = "card2", .vendor = GpuVendor::kAmd},
           {.device = "card3", .vendor = GpuVendor::kAmd}};
  EXPECT_THAT(Gpus({{"HIP_VISIBLE_DEVICES", "2"}}, ""), ElementsAre("card3"));
  EXPECT_THAT(Gpus({{"ROCR_VISIBLE_DEVICES", "1,2"}}, ""), ElementsAre("card2", "card3"));
  EXPECT_THAT(Gpus({{"ROCR_VISIBLE_DEVICES", "1,2"},
                    {"HIP_VISIBLE_DEVICES", "1"},
                    {"CUDA_VISIBLE_DEVICES", "0"}},
                   "0"),
              ElementsAre("card3"));
  EXPECT_THAT(Gpus({{"ROCR_VISIBLE_DEVICES", "1,2"}}, "0"), ElementsAre("card2"));
  EXPECT_EQ(Gpus({{"ROCR_VISIBLE_DEVICES", "GPU-0123456789abcdef"}}, "").size(), 3u);
  gpus_[1].uuid = "GPU-0123456789abcdef";
  EXPECT_THAT(Gpus({{"ROCR_VISIBLE_DEVICES", "GPU-0123456789abcdef"}}, ""), ElementsAre("card2"));
  EXPECT_EQ(Gpus({{"ZE_AFFINITY_MASK", "0"}}, "").size(), 3u);  // there are no such GPUs
}

TEST_F(GpusOfProcessTest, AreThoseOfRocmThatAScriptHasSetSinceItsStart) {
  gpus_ = {{.device = "card1", .vendor = GpuVendor::kAmd},
           {.device = "card2", .vendor = GpuVendor::kAmd}};
  EXPECT_THAT(Gpus({{"HIP_VISIBLE_DEVICES", "0,1"}}, "1"), ElementsAre("card2"));
}

TEST_F(GpusOfProcessTest, AreThoseWhoseTilesIntelsMaskCounts) {
  gpus_ = {{.device = "card0", .vendor = GpuVendor::kIntel, .tiles = 2},
           {.device = "card1", .vendor = GpuVendor::kIntel, .tiles = 2}};
  EXPECT_THAT(Gpus({{"ZE_AFFINITY_MASK", "1"}}, ""), ElementsAre("card0"));
  EXPECT_THAT(Gpus({{"ZE_AFFINITY_MASK", "0,1,2"}}, ""), ElementsAre("card0", "card1"));
  EXPECT_THAT(Gpus({{"ZE_AFFINITY_MASK", "1.0"}}, ""), ElementsAre("card1"));
  EXPECT_THAT(Gpus({{"ZE_AFFINITY_MASK", "1"}, {"ZE_FLAT_DEVICE_HIERARCHY", "COMPOSITE"}}, ""),
              ElementsAre("card1"));
}

TEST_F(GpusOfProcessTest, AreThoseOfIntelThatItsMaskNames) {
  gpus_ = {{.device = "card0", .vendor = GpuVendor::kIntel},
           {.device = "card1", .vendor = GpuVendor::kIntel}};
  EXPECT_THAT(Gpus({{"ZE_AFFINITY_MASK", "1"}}, ""), ElementsAre("card1"));
  EXPECT_THAT(Gpus({{"ZE_AFFINITY_MASK", "1.0,1.1"}}, "0"), ElementsAre("card1"));
  EXPECT_EQ(Gpus({{"ZE_AFFINITY_MASK", "7"}}, "").size(), 2u);
}

TEST_F(GpusOfProcessTest, AreOfTheVendorThatIsNamed) {
  gpus_.push_back({.device = "card1", .vendor = GpuVendor::kAmd});
  EXPECT_THAT(Gpus({{"HIP_VISIBLE_DEVICES", "0"}}, ""), ElementsAre("card1"));
  EXPECT_THAT(Gpus({}, "2"), ElementsAre("gpu2"));
  EXPECT_THAT(Gpus({{"ROCR_VISIBLE_DEVICES", "0"}}, "2"), ElementsAre("gpu2", "card1"));
  EXPECT_EQ(Gpus({}, "").size(), 4u);
}

TEST_F(GpusOfProcessTest, AreThoseOfTheBatchSystemOrContainerFirst) {
  EXPECT_THAT(Gpus({{"SLURM_JOB_GPUS", "1,2"}}, "0,1"), ElementsAre("gpu1", "gpu2"));
  EXPECT_THAT(Gpus({{"SLURM_JOB_GPUS", "1,2"}, {"SLURM_STEP_GPUS", "2"}}, "0"),
              ElementsAre("gpu2"));
  EXPECT_THAT(Gpus({{"SLURM_JOB_GPUS", "0,1,2"}}, "2"), ElementsAre("gpu2"));
  EXPECT_THAT(Gpus({{"SLURM_JOB_GPUS", "1,2"}}, "2"), ElementsAre("gpu2"));
  EXPECT_THAT(Gpus({{"SLURM_JOB_GPUS", "1,2"}}, "1"), ElementsAre("gpu1", "gpu2"));  // either
  EXPECT_THAT(Gpus({{"SLURM_JOB_GPUS", "0,1"}}, "-1"), IsEmpty());
  EXPECT_THAT(Gpus({{"SLURM_JOB_GPUS", "0,1"}}, "none"), IsEmpty());
  EXPECT_THAT(Gpus({{"NVIDIA_VISIBLE_DEVICES", "nvidia.com/gpu=1"}}, ""), ElementsAre("gpu1"));
  EXPECT_EQ(Gpus({{"NVIDIA_VISIBLE_DEVICES", "nvidia.com/gpu=all"}}, "").size(), 3u);
  EXPECT_THAT(Gpus({{"NVIDIA_VISIBLE_DEVICES", "GPU-cc33"}}, "0"), ElementsAre("gpu2"));
  EXPECT_THAT(Gpus({{"NVIDIA_VISIBLE_DEVICES", "all"}}, "0"), ElementsAre("gpu0"));
}

TEST_F(GpusOfProcessTest, OfAContainerMayBeNumbersOfWhichCudaUsesAPart) {
  EXPECT_THAT(Gpus({{"NVIDIA_VISIBLE_DEVICES", "1,2"}}, ""), ElementsAre("gpu1", "gpu2"));
  EXPECT_THAT(Gpus({{"NVIDIA_VISIBLE_DEVICES", "GPU-cc33,GPU-bb22"}}, "1"), ElementsAre("gpu2"));
  EXPECT_THAT(Gpus({{"NVIDIA_VISIBLE_DEVICES", "1,2"}}, "-1"), IsEmpty());
  EXPECT_THAT(Gpus({{"NVIDIA_VISIBLE_DEVICES", "none"}}, ""), IsEmpty());
  EXPECT_EQ(Gpus({{"NVIDIA_VISIBLE_DEVICES", "void"}}, "").size(), 3u);
  EXPECT_EQ(Gpus({{"NVIDIA_VISIBLE_DEVICES", "5"}}, "").size(), 3u);  // the container has one GPU
  EXPECT_THAT(Gpus({{"NVIDIA_VISIBLE_DEVICES", "0"}}, "2"),
              ElementsAre("gpu2"));  // there is no container
}

TEST_F(GpusOfProcessTest, OfAContainerMayBeAnInstanceOfMig) {
  gpus_[1].instances = {"MIG-1111"};
  for (const char* given : {"1:0", "1:0,1:1", "nvidia.com/gpu=1:0", "nvidia.com/gpu=MIG-1111"}) {
    EXPECT_THAT(Gpus({{"NVIDIA_VISIBLE_DEVICES", given}}, ""), ElementsAre("gpu1")) << given;
    // CUDA counts instances.
    EXPECT_THAT(Gpus({{"NVIDIA_VISIBLE_DEVICES", given}}, "0"), ElementsAre("gpu1")) << given;
  }
  EXPECT_THAT(Gpus({{"NVIDIA_VISIBLE_DEVICES", "nvidia.com/gpu=MIG-1111"}}, "1"),
              ElementsAre("gpu1"));
}

// "void" is what the Container Device Interface sets, which gives GPUs by itself.
TEST_F(GpusOfProcessTest, AreThoseThatItMayOpenWhereNobodySays) {
  const std::vector<GpuFacts> openable = {gpus_[1], gpus_[2]};
  const auto all = WithVariables({}), cdi = WithVariables({{"NVIDIA_VISIBLE_DEVICES", "void"}});
  EXPECT_THAT(GpusOfProcess(all, "", gpus_, openable), ElementsAre("gpu1", "gpu2"));
  EXPECT_THAT(GpusOfProcess(cdi, "1", gpus_, openable), ElementsAre("gpu2"));
  EXPECT_THAT(GpusOfProcess(all, "", gpus_, {}), IsEmpty());
}

TEST_F(GpusOfProcessTest, AreNoneWhereSlurmGaveNone) {
  EXPECT_THAT(Gpus({}, "NoDevFiles"), IsEmpty());
}

}  // namespace
}  // namespace stepscope
