#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/app/job/node_job.h"
#include "agent/app/job/spool_drain.h"
#include "agent/launch/process_match.h"
#include "agent/top/jobs_text.h"

namespace stepscope {

// The jobs that run on this node: begins and ends their sessions as processes come and go. For one
// thread, but for Add and Live. The references outlive it.
class NodeJobs {
 public:
  // `match` finds processes that do not register; null: only registered processes count.
  NodeJobs(const NodeJobOptions& options, Intake& intake, ProcessMatch* match,
           const Sampler& sampler, SpoolDrain& others, const Clock& clock)
      : options_(options),
        intake_(intake),
        match_(match),
        sampler_(sampler),
        others_(others),
        clock_(clock) {}

  // Adds a tick of the node to each job. Any thread.
  void Add(Time at, const TickRow& node);

  // Updates the jobs from the processes that run now.
  void Update();

  // The shortest sampling interval of all jobs: the others get more samples than they asked for.
  // The node's own where there is no job.
  Duration Interval() const;

  // For `top`. Any thread.
  std::vector<TopJob> Live() const;

  // No tick may be added any more. Jobs that go on get no end.
  void Finish();

  // Descriptors that become readable as each remaining job is delivered.
  std::vector<int> WaitingDescriptors() const;

  // Leaves undelivered frames to the spool, and logs them.
  void HandOver();

  std::size_t size() const { return jobs_.size(); }

 private:
  std::map<std::string, HeardJob> Now();
  void Begin(const HeardJob& job);
  void End(std::unique_ptr<NodeJob> job);
  void DropFinished();

  const NodeJobOptions options_;
  Intake& intake_;
  ProcessMatch* const match_;
  const Sampler& sampler_;
  SpoolDrain& others_;
  const Clock& clock_;
  std::map<std::string, std::unique_ptr<NodeJob>> jobs_;
  Guarded<std::vector<NodeJob*>> ticking_;           // the jobs in jobs_, for the sampling thread
  std::vector<std::unique_ptr<NodeJob>> finishing_;  // oldest first
  std::vector<MatchedProcess> matched_;
  SteadyTime next_match_{};
  SteadyTime quiet_until_{};
};

}  // namespace stepscope
