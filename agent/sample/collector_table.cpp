#include "agent/collect/collector.h"
#include "agent/gpu/gpu.h"
#include "agent/host/cgroup.h"
#include "agent/host/cpu.h"
#include "agent/host/disk.h"
#include "agent/host/faults.h"
#include "agent/host/frequency.h"
#include "agent/host/load.h"
#include "agent/host/memory.h"
#include "agent/host/network.h"
#include "agent/host/nfs.h"
#include "agent/host/pressure.h"
#include "agent/host/rdma.h"
#include "agent/host/tcp.h"

namespace stepscope {
namespace {

constexpr CollectorKind kCollectors[] = {
    {"cpu", MakeCpuCollector},         {"frequency", MakeFrequencyCollector},
    {"load", MakeLoadCollector},       {"memory", MakeMemoryCollector},
    {"faults", MakeFaultsCollector},   {"pressure", MakePressureCollector},
    {"disk", MakeDiskCollector},       {"nfs", MakeNfsCollector},
    {"network", MakeNetworkCollector}, {"tcp", MakeTcpCollector},
    {"rdma", MakeRdmaAside, true},     {"gpu", MakeGpuCollector, true},
    {"cgroup", MakeCgroupCollector},
};

}  // namespace

std::span<const CollectorKind> CollectorTable() {
  return kCollectors;
}

}  // namespace stepscope
