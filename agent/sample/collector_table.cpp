#include "agent/collect/collector.h"
#include "agent/gpu/gpu.h"
#include "agent/host/cgroup.h"
#include "agent/host/cpu.h"
#include "agent/host/disk.h"
#include "agent/host/load.h"
#include "agent/host/memory.h"
#include "agent/host/network.h"
#include "agent/host/pressure.h"

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
