#include "core/model/metric.h"

#include <algorithm>

namespace stepscope {
namespace {

using enum DeviceKind;

constexpr Metric kMetrics[] = {
    {"node_cpu_percent", kNode, "%", 2, "CPU time in use, mean of all cores; I/O wait is not use."},
    {"node_iowait_percent", kNode, "%", 2, "Time idle with disk requests open, mean of all cores."},
    {"node_user_percent", kNode, "%", 2, "CPU time in programs, mean of all cores."},
    {"node_system_percent", kNode, "%", 2,
     "CPU time in the kernel, interrupts too, mean of all cores."},
    {"node_steal_percent", kNode, "%", 2,
     "Time in which the host of a virtual machine ran others, mean of all cores."},
    {"node_context_switches_per_second", kNode, "1/s", 0, "Changes of the task that a core runs."},
    {"node_cpu_clock_mhz", kNode, "MHz", 0, "Clock of the cores, mean of all."},
    {"cpu_util_percent", kCpu, "%", 2, "CPU time in use of one core; I/O wait is not use."},
    {"cpu_iowait_percent", kCpu, "%", 2, "Time one core was idle with disk requests open."},
    {"cpu_user_percent", kCpu, "%", 2, "Time one core spent in programs."},
    {"cpu_system_percent", kCpu, "%", 2, "Time one core spent in the kernel, interrupts too."},
    {"cpu_steal_percent", kCpu, "%", 2,
     "Time in which the host of a virtual machine ran others on one core."},
    {"cpu_clock_mhz", kCpu, "MHz", 0, "Clock of one core."},
    {"load_1m", kNode, "", 2, "Runnable and blocked tasks, one-minute average of the kernel."},
    {"memory_used_percent", kNode, "%", 2, "Memory that is not available, of the total."},
    {"memory_used_bytes", kNode, "bytes", 0, "Total memory minus available memory."},
    {"memory_available_bytes", kNode, "bytes", 0,
     "Memory that programs can have without swapping, files kept in it included."},
    {"memory_total_bytes", kNode, "bytes", 0, "Memory of the node."},
    {"memory_cached_bytes", kNode, "bytes", 0, "Files kept in memory, shared memory too."},
    {"memory_shared_bytes", kNode, "bytes", 0,
     "Shared memory and files in it (/dev/shm), where loader workers put batches."},
    {"memory_dirty_bytes", kNode, "bytes", 0, "Changed files that are not yet on the disk."},
    {"memory_faults_per_second", kNode, "1/s", 0, "Page faults."},
    {"memory_major_faults_per_second", kNode, "1/s", 1, "Page faults that had to read a disk."},
    {"memory_oom_kills", kNode, "", 0,
     "Processes that the kernel killed for want of memory since the start of the node."},
    {"swap_in_bytes_per_second", kNode, "bytes/s", 0, "Bytes read from swap space."},
    {"swap_out_bytes_per_second", kNode, "bytes/s", 0, "Bytes written to swap space."},
    {"swap_used_bytes", kNode, "bytes", 0, "Swap space in use."},
    {"pressure_cpu_percent", kNode, "%", 2, "Time in which some task waited for a CPU."},
    {"pressure_memory_percent", kNode, "%", 2, "Time in which some task waited for memory."},
    {"pressure_memory_full_percent", kNode, "%", 2, "Time in which all tasks waited for memory."},
    {"pressure_io_percent", kNode, "%", 2, "Time in which some task waited for a disk."},
    {"pressure_io_full_percent", kNode, "%", 2, "Time in which all tasks waited for a disk."},
    {"cgroup_cpu_percent", kNode, "%", 2,
     "CPU time of the control group that the training runs in; 100 is one core."},
    {"cgroup_throttled_percent", kNode, "%", 2,
     "Scheduling periods in which the control group ran out of its quota of CPU time."},
    {"cgroup_memory_bytes", kNode, "bytes", 0,
     "Memory of the control group, with the files it has cached."},
    {"cgroup_memory_anon_bytes", kNode, "bytes", 0,
     "Memory that the processes of the control group hold, shared memory (/dev/shm) too, without "
     "cached files."},
    {"cgroup_memory_limit_bytes", kNode, "bytes", 0, "Memory that the control group may have."},
    {"cgroup_oom_kills", kNode, "", 0,
     "Processes of the control group that the kernel killed for want of memory."},
    {"cgroup_read_bytes_per_second", kNode, "bytes/s", 0,
     "Bytes that the control group read from disks, of all devices."},
    {"cgroup_write_bytes_per_second", kNode, "bytes/s", 0,
     "Bytes that the control group wrote to disks, of all devices."},
    {"disk_read_bytes_per_second", kDisk, "bytes/s", 0, "Bytes read from the device."},
    {"disk_write_bytes_per_second", kDisk, "bytes/s", 0, "Bytes written to the device."},
    {"disk_busy_percent", kDisk, "%", 2, "Time in which the device had requests."},
    {"disk_reads_per_second", kDisk, "1/s", 1, "Reads that the device completed."},
    {"disk_writes_per_second", kDisk, "1/s", 1, "Writes that the device completed."},
    {"disk_read_wait_seconds", kDisk, "s", 6, "Time that a read took, waiting included; mean."},
    {"disk_write_wait_seconds", kDisk, "s", 6, "Time that a write took, waiting included; mean."},
    {"disk_queue", kDisk, "", 2, "Requests at the device, waiting ones too; mean."},
    {"nfs_read_bytes_per_second", kDisk, "bytes/s", 0, "Bytes that the NFS server sent."},
    {"nfs_write_bytes_per_second", kDisk, "bytes/s", 0, "Bytes sent to the NFS server."},
    {"nfs_operations_per_second", kDisk, "1/s", 1, "Operations of all kinds on an NFS mount."},
    {"nfs_read_wait_seconds", kDisk, "s", 6, "Time until an NFS read was answered; mean."},
    {"nfs_write_wait_seconds", kDisk, "s", 6, "Time until an NFS write was answered; mean."},
    {"network_receive_bytes_per_second", kNetwork, "bytes/s", 0, "Bytes received."},
    {"network_send_bytes_per_second", kNetwork, "bytes/s", 0, "Bytes sent."},
    {"network_receive_packets_per_second", kNetwork, "1/s", 0, "Packets received."},
    {"network_send_packets_per_second", kNetwork, "1/s", 0, "Packets sent."},
    {"network_receive_drops_per_second", kNetwork, "1/s", 2, "Received packets thrown away."},
    {"network_send_drops_per_second", kNetwork, "1/s", 2, "Packets thrown away before sending."},
    {"network_receive_errors_per_second", kNetwork, "1/s", 2, "Packets received broken."},
    {"network_send_errors_per_second", kNetwork, "1/s", 2, "Packets that could not be sent."},
    {"network_link_bytes_per_second", kNetwork, "bytes/s", 0, "What the link can carry."},
    {"tcp_retransmits_per_second", kNode, "1/s", 2, "TCP segments sent again."},
    {"rdma_receive_bytes_per_second", kNetwork, "bytes/s", 0,
     "Bytes received by a port of InfiniBand or RoCE."},
    {"rdma_send_bytes_per_second", kNetwork, "bytes/s", 0,
     "Bytes sent by a port of InfiniBand or RoCE."},
    {"rdma_receive_packets_per_second", kNetwork, "1/s", 0, "Packets received by the port."},
    {"rdma_send_packets_per_second", kNetwork, "1/s", 0, "Packets sent by the port."},
    {"rdma_send_waits_per_second", kNetwork, "1/s", 0,
     "Ticks of the port in which it had data and could not send."},
    {"rdma_errors_per_second", kNetwork, "1/s", 2,
     "Broken symbols and packets, packets thrown away, and losses of the link."},
    {"rdma_retransmits_per_second", kNetwork, "1/s", 2,
     "Packets out of order, and answers that did not come."},
    {"rdma_congestion_per_second", kNetwork, "1/s", 2,
     "Congestion notices of RoCE, sent and obeyed."},
    {"rdma_link_bytes_per_second", kNetwork, "bytes/s", 0, "What the port can carry."},
    {"rank_evaluating_percent", kRank, "%", 2,
     "Time in which the rank evaluated, about ten seconds late; none before its first evaluation."},
    {"process_thread_cpu_percent", kRank, "%", 2,
     "CPU time of the rank's training thread; 100 is one core."},
    {"process_thread_waiting_percent", kRank, "%", 2,
     "Time in which the training thread was ready to run and waited for a core."},
    {"process_thread_blocked_percent", kRank, "%", 0,
     "Samples in which the training thread waited for a disk: 0 or 100, the mean is their share."},
    {"process_stopped_percent", kRank, "%", 0,
     "Samples in which the rank was stopped: 0 or 100, the mean is their share."},
    {"process_cpu_percent", kRank, "%", 2,
     "CPU time of all processes of the rank; 100 is one core."},
    {"process_resident_bytes", kRank, "bytes", 0,
     "Memory of the training process, what it shares too."},
    {"process_shared_bytes", kRank, "bytes", 0,
     "Files and shared memory in the memory of the training process."},
    {"process_proportional_bytes", kRank, "bytes", 0,
     "Memory of all processes of the rank, shared pages divided among those that share them."},
    {"process_gpu_memory_bytes", kRank, "bytes", 0,
     "Memory of all NVIDIA GPUs that processes of the rank hold."},
    {"process_read_bytes_per_second", kRank, "bytes/s", 0,
     "Bytes that all processes of the rank had from disks and file servers."},
    {"process_write_bytes_per_second", kRank, "bytes/s", 0,
     "Bytes that all processes of the rank gave to disks and file servers."},
    {"process_loaders", kRank, "", 0, "Processes that load data for the rank."},
    {"process_loaders_cpu_percent", kRank, "%", 2,
     "CPU time of the processes that load data; 100 is one core."},
    {"process_loaders_waiting_percent", kRank, "%", 2,
     "Time in which processes that load data were ready to run and waited for a core, all of them "
     "together; 100 is one of them all the time."},
    {"process_loaders_blocked_percent", kRank, "%", 2,
     "Processes that load data and waited for a disk, of all that do."},
    {"gpu_util_percent", kGpu, "%", 2, "Time in which any kernel ran on the GPU."},
    {"gpu_memory_busy_percent", kGpu, "%", 2,
     "Time in which the GPU's memory controller was busy."},
    {"gpu_memory_used_percent", kGpu, "%", 2, "Allocated memory of the GPU, of its total."},
    {"gpu_memory_used_bytes", kGpu, "bytes", 0, "Allocated memory of the GPU."},
    {"gpu_memory_total_bytes", kGpu, "bytes", 0, "Memory of the GPU."},
    {"gpu_power_watts", kGpu, "W", 1, "Power that the GPU draws."},
    {"gpu_temperature_celsius", kGpu, "°C", 0, "Temperature of the GPU's chip."},
    {"gpu_sm_clock_mhz", kGpu, "MHz", 0, "Clock of the GPU's processors."},
    {"gpu_memory_clock_mhz", kGpu, "MHz", 0, "Clock of the GPU's memory."},
    {"gpu_power_throttle_percent", kGpu, "%", 0,
     "Samples in which a power limit held the clocks down: 0 or 100, the mean is their share."},
    {"gpu_thermal_throttle_percent", kGpu, "%", 0,
     "Samples in which heat held the clocks down: 0 or 100, the mean is their share."},
    {"gpu_pcie_receive_bytes_per_second", kGpu, "bytes/s", 0, "Bytes to the GPU over PCIe."},
    {"gpu_pcie_send_bytes_per_second", kGpu, "bytes/s", 0, "Bytes from the GPU over PCIe."},
    {"gpu_pcie_link_bytes_per_second", kGpu, "bytes/s", 0,
     "What the GPU's PCIe link can carry now; one that idles is slower."},
    {"gpu_nvlink_receive_bytes_per_second", kGpu, "bytes/s", 0,
     "Bytes to the GPU over all its NVLinks."},
    {"gpu_nvlink_send_bytes_per_second", kGpu, "bytes/s", 0,
     "Bytes from the GPU over all its NVLinks."},
    {"gpu_ecc_errors", kGpu, "", 0,
     "Memory errors that could not be corrected, since the driver started."},
    {"gpu_xid_errors", kGpu, "", 0, "Critical errors (XID) of the driver since the agent started."},
    {"gpu_sm_active_percent", kGpu, "%", 2, "Time in which a processor of the GPU had work."},
    {"gpu_sm_occupancy_percent", kGpu, "%", 2,
     "Threads at work, of those the GPU's processors can hold."},
    {"gpu_tensor_active_percent", kGpu, "%", 2, "Time in which tensor cores computed."},
    {"gpu_dram_active_percent", kGpu, "%", 2, "Use of the bandwidth of the GPU's memory."},
};

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

}  // namespace

std::span<const Metric> Metrics() {
  return kMetrics;
}

const Metric* FindMetric(std::string_view name) {
  const auto* found = std::ranges::find(kMetrics, name, &Metric::name);
  return found == std::end(kMetrics) ? nullptr : found;
}

bool IsCustomMetric(std::string_view name) {
  constexpr std::string_view kPrefix = "user.";
  return name.starts_with(kPrefix) && name.size() > kPrefix.size() && name.size() <= 63 &&
         std::ranges::all_of(name, IsNameByte);
}

std::string_view ToText(DeviceKind kind) {
  switch (kind) {
    case kNode:
      return "node";
    case kCpu:
      return "cpu";
    case kGpu:
      return "gpu";
    case kDisk:
      return "disk";
    case kNetwork:
      return "network";
    case kRank:
      return "rank";
  }
  return "node";
}

}  // namespace stepscope
