#include "agent/cgroup.h"
#include "agent/collector.h"
#include "agent/cpu.h"
#include "agent/disk.h"
#include "agent/gpu.h"
#include "agent/load.h"
#include "agent/memory.h"
#include "agent/network.h"
#include "agent/pressure.h"

namespace stepscope {
namespace {

constexpr CollectorKind kCollectors[] = {
    {"cpu", MakeCpuCollector},       {"load", MakeLoadCollector},
    {"memory", MakeMemoryCollector}, {"pressure", MakePressureCollector},
    {"disk", MakeDiskCollector},     {"network", MakeNetworkCollector},
    {"gpu", MakeGpuCollector},       {"cgroup", MakeCgroupCollector},
};

}  // namespace

std::span<const CollectorKind> CollectorTable() {
  return kCollectors;
}

}  // namespace stepscope
