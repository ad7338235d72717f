#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/app/job/job_session.h"
#include "agent/app/options/node_job_options.h"
#include "agent/frames/job_tick_row.h"
#include "agent/host/process.h"
#include "agent/launch/launcher.h"
#include "agent/sample/sampler.h"
#include "agent/spool/spool_folder.h"
#include "core/base/clock.h"
#include "core/base/guarded.h"

namespace stepscope {

// One of the jobs of a node, from its first process to the time after its last one in which it may
// come back. It did not start the processes, so how they end it cannot know. For one thread, but
// for Add. The references outlive it.
class NodeJob {
 public:
  // Invalid when the uplink's files are no good now.
  static Result<std::unique_ptr<NodeJob>> Start(const HeardJob& job, const NodeJobOptions& options,
                                                Intake& intake, const Sampler& sampler,
                                                const Clock& clock);
  ~NodeJob();

  // A tick of the node. Any thread.
  void Add(Time at, const TickRow& node);

  // Which processes it has now; the service is told what that changes.
  void See(const std::vector<HeardProcess>& processes);

  // Whether the time to come back is over, and all marks of it are drained.
  bool HasEnded();

  // Says that it has ended, where that is so and the service still listens, and hands over what is
  // left. No tick may come any more.
  void Finish();

  // As that of JobSession; a push on its way is not waited for.
  bool HandOver();

  // Between two samples, as the service asked for it; else that of the node. Any thread.
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
  void NoteKineto(const Environment& environment);
  std::vector<AbsentSource> Absent() const;
  // Whether it is something else than was said; looks once in a while.
  bool AbsentChanged();

  // For the sampling thread.
  struct Ticks {
    JobTickRow row;
    std::vector<TrainingProcess> training;
    std::unique_ptr<Collector> processes, cgroup, metrics;
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
  std::string kineto_;           // as KinetoNote
  std::set<std::int64_t> pids_;  // whose GPUs are known
  std::size_t gpus_known_ = 0;
  std::set<std::string> gpus_;
  bool start_sent_ = false;
  SteadyTime absent_checked_at_{};    // whether it is still so
  std::vector<AbsentSource> absent_;  // as it was said
  std::optional<SteadyTime> gone_since_;
  Time gone_at_{};
  std::atomic<bool> hears_ = false;  // marks come after the start, and not of another life
  Guarded<Ticks> ticks_;
  std::unique_ptr<Uplink> uplink_;
  std::unique_ptr<JobSession> session_;
};

}  // namespace stepscope
