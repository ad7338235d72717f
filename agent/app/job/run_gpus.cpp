#include "agent/app/job/run_gpus.h"

#include "agent/launch/openable_gpus.h"
#include "agent/launch/process_gpus.h"
#include "agent/launch/process_start.h"

namespace stepscope {
namespace {

std::set<std::string> AsSet(const std::vector<std::string>& devices) {
  return {devices.begin(), devices.end()};
}

}  // namespace

void RunGpus::AddRanks(const std::vector<GpuFacts>& gpus) {
  for (const HeardJob& job : intake_ ? intake_->Jobs() : std::vector<HeardJob>()) {
    for (const HeardProcess& process : job.processes) {
      any_rank_ = true;
      if (process.on_cpu) of_ranks_.Clear(process.rank);
      if (process.on_cpu) continue;
      const ProcessStart start = ReadProcessStart(root_, process.pid);
      of_ranks_.Add(process.rank, GpusOfProcess(start.environment, process.devices, gpus,
                                                OpenableGpus(root_, process.pid, gpus)));
    }
  }
}

bool RunGpus::Update() {
  const auto gpus = sampler_.Gpus();
  const std::pair now(gpus.size(), intake_ ? intake_->Changes() : 0);
  if (seen_ == now) return false;
  seen_ = now;
  AddRanks(gpus);
  std::set<std::string> devices = of_ranks_.All();
  if (!any_rank_)
    devices = AsSet(GpusOfProcess(OwnVariable, OwnVariable("CUDA_VISIBLE_DEVICES"), gpus,
                                  OpenableGpus(root_, 0, gpus)));
  ticks_.Change([&](Ticks& ticks) {
    ticks.all = devices.size() == gpus.size();
    ticks.row.SetGpus(devices);
  });
  return std::exchange(gpus_, devices) != devices;
}

std::vector<GpuFacts> RunGpus::Facts() const {
  std::vector<GpuFacts> facts = sampler_.Gpus();
  std::erase_if(facts, [&](const GpuFacts& gpu) { return !gpus_.contains(gpu.device); });
  return facts;
}

const TickRow& RunGpus::Of(const TickRow& node) {
  const TickRow* row = &node;
  ticks_.Change([&](Ticks& ticks) {
    if (!ticks.all) row = &ticks.row.Of(node);
  });
  return *row;
}

}  // namespace stepscope
