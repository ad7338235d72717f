#include "agent/app/job/node_jobs.h"

#include <poll.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/base/log.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostFinishing = 16;
constexpr Duration kQuiet = 1min;
constexpr std::size_t kMostJobs = 64;     // as many as may register
constexpr Duration kBetweenMatches = 5s;  // a walk over /proc

bool IsDone(const NodeJob& job) {
  pollfd watched{job.done_descriptor(), POLLIN, 0};
  return poll(&watched, 1, 0) == 1;
}

// Hands the job over; true when frames or traces of it wait in the spool.
bool HandOverJob(NodeJob& job) {
  const bool kept = job.HandOver(), traces = job.KeepTraces();
  const SpoolFigures left = job.figures();
  if (left.frames_waiting == 0) return traces;
  LogWarning("job {}: not delivered: {} frames: {}{}", job.name(), left.frames_waiting,
             job.Reason(),
             kept ? "; an agent on this node delivers it, or stepscope-agent flush" : "");
  return kept || traces;
}

}  // namespace

void NodeJobs::Add(Time at, const TickRow& node) {
  ticking_.Read([&](const std::vector<NodeJob*>& jobs) {
    for (NodeJob* job : jobs) job->Add(at, node);
  });
}

Duration NodeJobs::Interval() const {
  std::optional<Duration> shortest;
  for (const auto& [name, job] : jobs_) {
    shortest = std::min(shortest.value_or(Duration::max()), job->Interval());
  }
  return shortest.value_or(options_.sampling.interval);
}

std::vector<TopJob> NodeJobs::Live() const {
  return ticking_.Read([](const std::vector<NodeJob*>& jobs) {
    std::vector<TopJob> live;
    for (const NodeJob* job : jobs) live.push_back({job->name(), job->Ranks()});
    return live;
  });
}

// Jobs with connected ranks get no matched processes. A job belongs to the user whose process names
// it first.
std::map<std::string, HeardJob> NodeJobs::Now() {
  std::map<std::string, HeardJob> now;
  std::set<std::string> connected;
  for (HeardJob& job : intake_.Jobs()) {
    if (!job.processes.empty()) connected.insert(job.job);
    now.emplace(job.job, std::move(job));
  }
  if (match_ != nullptr && clock_.Steady() >= next_match_) {
    matched_ = match_->Scan();
    next_match_ = clock_.Steady() + kBetweenMatches;
  }
  for (const MatchedProcess& process : matched_) {
    if (connected.contains(process.job)) continue;
    if (now.size() >= kMostJobs && !now.contains(process.job)) continue;
    HeardJob fresh{process.job, process.user, {}};
    HeardJob& job = now.try_emplace(process.job, std::move(fresh)).first->second;
    if (job.user != process.user) continue;
    job.processes.push_back({process.rank, process.pid, process.devices});
  }
  return now;
}

void NodeJobs::Update() {
  DropFinished();
  const std::map<std::string, HeardJob> now = Now();
  for (const auto& [name, job] : now) {
    if (!jobs_.contains(name)) Begin(job);
  }
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    const auto found = now.find(job->first);
    job->second->See(found == now.end() ? std::vector<HeardProcess>() : found->second.processes);
    if (!job->second->HasEnded()) {
      ++job;
      continue;
    }
    End(std::move(job->second));
    job = jobs_.erase(job);
  }
}

void NodeJobs::Begin(const HeardJob& job) {
  auto started = NodeJob::Start(job, options_, intake_, sampler_, clock_);
  if (!started) {
    if (clock_.Steady() < quiet_until_) return;
    quiet_until_ = clock_.Steady() + kQuiet;
    LogWarning("job {} is not profiled: {}", job.job, started.error().message);
    return;
  }
  LogInfo("job {} of user {}: {}", job.job, job.user, (*started)->page());
  NodeJob* one = started->get();
  jobs_[job.job] = std::move(*started);
  ticking_.Change([&](std::vector<NodeJob*>& jobs) { jobs.push_back(one); });
}

void NodeJobs::End(std::unique_ptr<NodeJob> job) {
  ticking_.Change([&](std::vector<NodeJob*>& jobs) { std::erase(jobs, job.get()); });
  LogInfo("job {} has no processes any more", job->name());
  if (job->Reason().empty()) others_.AwaitKnown(job->name());
  job->Finish();
  finishing_.push_back(std::move(job));
  if (finishing_.size() <= kMostFinishing) return;
  const bool left = HandOverJob(*finishing_.front());
  finishing_.erase(finishing_.begin());
  if (left) others_.Rescan();
}

void NodeJobs::DropFinished() {
  bool left = false;
  std::erase_if(finishing_, [&](const auto& job) {
    if (!IsDone(*job)) return false;
    left = HandOverJob(*job) || left;
    return true;
  });
  if (left) others_.Rescan();
}

void NodeJobs::Finish() {
  ticking_.Change([](std::vector<NodeJob*>& jobs) { jobs.clear(); });
  for (auto& [name, job] : jobs_) {
    job->Finish();
    finishing_.push_back(std::move(job));
  }
  jobs_.clear();
}

std::vector<int> NodeJobs::WaitingDescriptors() const {
  std::vector<int> waiting;
  for (const auto& job : finishing_) {
    if (!IsDone(*job)) waiting.push_back(job->done_descriptor());
  }
  return waiting;
}

void NodeJobs::HandOver() {
  for (const auto& job : finishing_) HandOverJob(*job);
  finishing_.clear();
}

}  // namespace stepscope
