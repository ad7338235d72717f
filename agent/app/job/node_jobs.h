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
// thread, but for Add. The references outlive it.
class NodeJobs {
 public:
  // `match` finds the processes that do not register; null: there are none.
  NodeJobs(const NodeJobOptions& options, Intake& intake, ProcessMatch* match,
           const Sampler& sampler, SpoolDrain& others, const Clock& clock)
      : options_(options),
        intake_(intake),
        match_(match),
        sampler_(sampler),
        others_(others),
        clock_(clock) {}

  // A tick of the node, for each job. Any thread.
  void Add(Time at, const TickRow& node);

  // Looks which processes are there.
  void Update();

  // The shortest that one of them is to have: the others get more samples than they asked for. That
  // of the node where there is none.
  Duration Interval() const;

  // For `top`. Any thread.
  std::vector<TopJob> Live() const;

  // No tick may come any more. Those that go on are not said to end.
  void Finish();

  // Of those that are to be delivered.
  std::vector<int> WaitingDescriptors() const;

  // What is not delivered is left to the spool, and said.
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
  Guarded<std::vector<NodeJob*>> ticking_;           // the same ones
  std::vector<std::unique_ptr<NodeJob>> finishing_;  // oldest first
  std::vector<MatchedProcess> matched_;
  SteadyTime next_match_{};
  SteadyTime quiet_until_{};
};

}  // namespace stepscope
