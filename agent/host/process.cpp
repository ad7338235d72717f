#include "agent/host/process.h"

#include <algorithm>
#include <atomic>
#include <map>

#include "agent/host/proportional_memory.h"
#include "agent/host/rank_processes.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr Duration kStatePeriod = 1s;
constexpr Duration kReadPeriod = 2s;
constexpr Duration kIoPeriod = 4s;  // the kernel sums up all threads, as it does for the use
constexpr Duration kWalkPeriod = 5s;
constexpr Duration kThreadsPeriod = 60s;  // between walks over some hundred files of each rank
// Beyond so many processes each is read more seldom, so that many cost no more than 32.
constexpr int kFew = 32;
// Bounds the open files, three for each process.
constexpr std::size_t kMostProcesses = 160;
constexpr std::size_t kMostProcessDevices = 64;

class ProcessCollector : public Collector {
 public:
  ProcessCollector(const std::string& root, ListTraining list, ListGpuProcesses list_gpu)
      : root_(root), list_(std::move(list)), list_gpu_(std::move(list_gpu)), proportional_(root) {}

  Status Collect(SteadyTime now, TickRow& row) override {
    const bool read = Due(read_pace_, kReadPeriod, now);
    const bool io = read && Due(io_pace_, kIoPeriod, now);
    const bool state = state_pace_.Due(now);
    if ((read && Follow()) || Due(walk_pace_, kWalkPeriod, now)) Walk(threads_pace_.Due(now));
    for (auto& [device, rank] : ranks_) {
      rank.ReadThread(now, state && !read, row);
      if (read) rank.ReadAll(now, io, row);
    }
    if (read) ReadGpuMemory(now, row);
    if (read) ReadProportional(now, row);
    return {};
  }

  std::string Shortfall() const override {
    const std::size_t left_out = left_out_;
    if (left_out == 0) return "";
    return Format("{} are read, at least {} more of the ranks are not", kMostProcesses, left_out);
  }

 private:
  bool Due(Pace& pace, Duration period, SteadyTime now) const {
    const int many = std::max(kFew, static_cast<int>(Size()));
    return pace.Due(now, period * many / kFew);
  }

  // Follows the listed processes; returns whether one is new.
  bool Follow() {
    list_(listed_);
    std::erase_if(listed_, [](const TrainingProcess& process) { return process.pid <= 0; });
    // A process for which there was no room may have some by now.
    if (listed_ == followed_ && left_out_ == 0) return false;
    followed_ = listed_;
    training_.clear();
    for (const auto& [device, pid] : listed_) training_.emplace(pid, device);
    for (auto& [device, rank] : ranks_) {
      const auto still = training_.find(rank.pid());
      if (still == training_.end() || still->second != device) rank.Close();
    }
    bool any = false;
    for (const auto& [device, pid] : listed_) {
      if (ranks_.size() >= kMostProcessDevices && !ranks_.contains(device)) continue;
      RankProcesses& rank = ranks_.try_emplace(device, device).first->second;
      if (rank.pid() != 0) continue;
      if (RoomFor(rank) == 0) {
        left_out_ = std::max<std::size_t>(left_out_, 1);
        continue;
      }
      rank.Follow(root_, pid);
      any = true;
    }
    return any;
  }

  // Searches for new processes; only a walk over the threads sees all.
  void Walk(bool threads) {
    std::size_t left_out = 0;
    for (auto& [device, rank] : ranks_) {
      left_out += rank.Walk(threads, training_, RoomFor(rank));
      left_out += rank.pid() == 0 && Lists(device);
    }
    left_out_ = threads ? left_out : std::max<std::size_t>(left_out_, left_out);
  }

  bool Lists(const std::string& device) const {
    return std::ranges::any_of(listed_, [&](const auto& one) { return one.device == device; });
  }

  void ReadGpuMemory(SteadyTime now, TickRow& row) {
    if (!list_gpu_) return;
    on_gpus_.clear();
    list_gpu_(now, on_gpus_);
    for (auto& [device, rank] : ranks_) rank.ShowGpuMemory(on_gpus_, row);
  }

  void ReadProportional(SteadyTime now, TickRow& row) {
    if (proportional_.Take(now, groups_)) {
      for (const MemoryGroup& group : groups_) {
        if (group.bytes) ranks_.at(group.device).SetProportional(*group.bytes, row);
      }
    }
    if (!proportional_.Due(now)) return;
    std::size_t groups = 0;
    groups_.resize(ranks_.size());
    for (const auto& [device, rank] : ranks_) {
      if (rank.size() == 0) continue;
      MemoryGroup& group = groups_[groups++];
      group.device = device;
      group.pids.clear();
      rank.PidsInto(group.pids);
    }
    groups_.resize(groups);
    if (groups > 0) proportional_.Ask(groups_, now);
  }

  std::size_t RoomFor(const RankProcesses& one) const {
    return kMostProcesses - std::min(Size() - one.size(), kMostProcesses);
  }

  std::size_t Size() const {
    std::size_t size = 0;
    for (const auto& [device, rank] : ranks_) size += rank.size();
    return size;
  }

  const std::string root_;
  const ListTraining list_;
  const ListGpuProcesses list_gpu_;
  std::vector<GpuProcess> on_gpus_;
  std::vector<TrainingProcess> listed_, followed_;  // now, and at the last change
  Training training_;
  std::map<std::string, RankProcesses> ranks_;  // by device; never removed, to keep their columns
  Pace state_pace_{kStatePeriod}, read_pace_{kReadPeriod}, io_pace_{kIoPeriod};
  Pace walk_pace_{kWalkPeriod}, threads_pace_{kThreadsPeriod};
  std::atomic<std::size_t> left_out_ = 0;  // processes for which there was no room
  ProportionalMemory proportional_;
  ProportionalMemory::Groups groups_;
};

}  // namespace

std::unique_ptr<Collector> MakeProcessCollector(const std::string& root, ListTraining list,
                                                ListGpuProcesses list_gpu) {
  return std::make_unique<ProcessCollector>(root, std::move(list), std::move(list_gpu));
}

}  // namespace stepscope
