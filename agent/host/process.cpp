#include "agent/host/process.h"

#include <algorithm>
#include <map>

#include "agent/host/proportional_memory.h"
#include "agent/host/rank_processes.h"

namespace stepscope {
namespace {

constexpr Duration kReadPeriod = 2s;
constexpr Duration kWalkPeriod = 5s;
// So that a node with many processes costs no more than one with 32.
constexpr Duration kReadEach = kReadPeriod / 32;
constexpr Duration kWalkEach = kWalkPeriod / 32;
constexpr Duration kThreadsPeriod = 30s;  // some hundred files for each rank
// Three open files each.
constexpr std::size_t kMostProcesses = 160;
constexpr std::size_t kMostDevices = 64;

class ProcessCollector : public Collector {
 public:
  ProcessCollector(const std::string& root, ListTraining list)
      : root_(root), list_(std::move(list)), proportional_(root) {}

  Status Collect(SteadyTime now, TickRow& row) override {
    const int many = static_cast<int>(Size());
    const bool read = read_pace_.Due(now, std::max(kReadPeriod, many * kReadEach));
    const bool walk =
        (read && Follow()) || walk_pace_.Due(now, std::max(kWalkPeriod, many * kWalkEach));
    const bool threads = walk && threads_pace_.Due(now);
    for (auto& [device, rank] : ranks_) {
      if (walk) rank.Walk(threads, training_, RoomFor(rank));
      rank.ReadThread(now, row);
      if (read) rank.ReadAll(now, row);
    }
    if (read) ReadProportional(now, row);
    return {};
  }

 private:
  // Says whether a process is new.
  bool Follow() {
    std::vector<TrainingProcess> listed = list_();
    std::erase_if(listed, [](const TrainingProcess& process) { return process.pid <= 0; });
    training_.clear();
    for (const auto& [device, pid] : listed) training_.emplace(pid, device);
    for (auto& [device, rank] : ranks_) {
      const auto still = training_.find(rank.pid());
      if (still == training_.end() || still->second != device) rank.Leave();
    }
    bool any = false;
    for (const auto& [device, pid] : listed) {
      if (ranks_.size() >= kMostDevices && !ranks_.contains(device)) continue;
      RankProcesses& rank = ranks_.try_emplace(device, device).first->second;
      if (rank.pid() != 0 || RoomFor(rank) == 0) continue;
      rank.Follow(root_, pid);
      any = true;
    }
    return any;
  }

  void ReadProportional(SteadyTime now, TickRow& row) {
    for (const auto& [device, bytes] : proportional_.Take(now)) {
      ranks_.at(device).SetProportional(bytes, row);
    }
    if (!proportional_.Due(now)) return;
    ProportionalMemory::Groups groups;
    for (const auto& [device, rank] : ranks_) {
      if (rank.size() > 0) rank.PidsInto(groups[device]);
    }
    if (!groups.empty()) proportional_.Ask(std::move(groups), now);
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
  Training training_;
  std::map<std::string, RankProcesses> ranks_;  // by device; never removed, for their columns
  Pace read_pace_{kReadPeriod}, walk_pace_{kWalkPeriod}, threads_pace_{kThreadsPeriod};
  ProportionalMemory proportional_;
};

}  // namespace

std::unique_ptr<Collector> MakeProcessCollector(const std::string& root, ListTraining list) {
  return std::make_unique<ProcessCollector>(root, std::move(list));
}

}  // namespace stepscope
