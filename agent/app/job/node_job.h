#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/app/job/job_owner.h"
#include "agent/app/job/job_session.h"
#include "agent/app/options/node_job_options.h"
#include "agent/frames/job_tick_row.h"
#include "agent/host/process.h"
#include "agent/host/process_limits.h"
#include "agent/launch/launcher.h"
#include "agent/launch/missing_hooks.h"
#include "agent/launch/rank_gpus.h"
#include "agent/sample/sampler.h"
#include "agent/spool/spool_folder.h"
#include "agent/traces/trace_sender.h"
#include "core/base/clock.h"
#include "core/base/guarded.h"

namespace stepscope {

// A job of this node, from its first process until its last one has been gone for a while. The
// agent did not start the processes, so it cannot know how they end. For one thread, but for Add.
// The references outlive it.
class NodeJob {
 public:
  // Invalid when a file of the uplink cannot be used.
  static Result<std::unique_ptr<NodeJob>> Start(const HeardJob& job, const NodeJobOptions& options,
                                                Intake& intake, const Sampler& sampler,
                                                const Clock& clock);
  ~NodeJob();

  // Adds a tick of the node. Any thread.
  void Add(Time at, const TickRow& node);

  // Updates the job's processes, and tells the service what changes with them.
  void See(const std::vector<HeardProcess>& processes);

  // Whether the last process has been gone for long enough, and all marks are drained.
  bool HasEnded();

  // Sends the job's end, if it has ended and the service still accepts it, and then the remaining
  // frames. No tick may be added any more.
  void Finish();

  // Like JobSession::HandOver; does not wait for a push in flight.
  bool HandOver();

  // Like TraceSender::Finish; what is on its way goes to the spool.
  bool KeepTraces() { return traces_.Finish(Duration(0)) > 0; }

  // The sampling interval that the service asked for; else the node's. Any thread.
  Duration Interval() const {
    return interval_.Read([](Duration value) { return value; });
  }

  bool Over() const { return session_->Over(); }
  int done_descriptor() const { return session_->done_descriptor(); }
  std::vector<LiveRank> Ranks() const { return session_->Ranks(); }
  const std::string& name() const { return name_; }
  std::string page() const { return uplink_->PageOf(name_); }
  SpoolFigures figures() const { return session_->figures(); }
  std::string Reason() const { return session_->Reason(); }

 private:
  NodeJob(const HeardJob& job, const NodeJobOptions& options, Intake& intake,
          const Sampler& sampler, const Clock& clock, std::unique_ptr<Uplink> uplink);
  void SendStart();
  // Reads what the processes may use; returns whether it is another than before.
  bool LimitsChanged();
  // Finds out why no process is connected, now and then; returns whether that is another than
  // before.
  bool HooksChanged(const std::vector<HeardProcess>& processes);
  void NoteKineto(const Environment& environment);
  std::vector<AbsentSource> Absent() const;
  // Whether the absent sources differ from those that the service knows; checked now and then.
  bool AbsentChanged();

  // State of the sampling thread.
  struct Ticks {
    JobTickRow row;
    std::vector<TrainingProcess> training;
    std::unique_ptr<Collector> processes, cgroup, metrics, evaluation;
  };

  const std::string name_;
  const NodeJobOptions& options_;
  Guarded<Duration> interval_;
  Intake& intake_;
  const Sampler& sampler_;
  const Clock& clock_;
  const Time started_;
  std::string group_;
  std::vector<std::string> command_;
  JobOwner owner_;
  std::string user_;                   // as sent to the service
  std::string kineto_;                 // from KinetoNote
  std::map<std::int64_t, bool> seen_;  // processes whose GPUs are known, and whether they need none
  std::size_t gpus_known_ = 0;
  RankGpus of_ranks_;
  std::set<std::string> gpus_;
  ProcessLimits limits_;
  const HooksWay way_;
  SteadyTime hooks_checked_at_{};  // last check for missing hooks
  std::string hooks_missing_;
  bool start_sent_ = false;
  SteadyTime absent_checked_at_{};    // last check of the absent sources
  std::vector<AbsentSource> absent_;  // as sent to the service
  std::vector<SlowedReading> slowed_;
  std::optional<SteadyTime> gone_since_;
  Time gone_at_{};
  // Whether marks are drained: after the start, and not of a later life of the job.
  std::atomic<bool> hears_ = false;
  Guarded<Ticks> ticks_;
  std::unique_ptr<Uplink> uplink_;
  TraceSender traces_;
  std::unique_ptr<JobSession> session_;
};

}  // namespace stepscope
