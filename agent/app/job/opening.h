#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/app/job/job_owner.h"
#include "agent/app/job/job_session.h"
#include "agent/app/job/run_gpus.h"
#include "agent/app/options/run_options.h"
#include "agent/launch/missing_hooks.h"
#include "agent/marks/intake.h"
#include "agent/sample/sampler.h"
#include "core/base/clock.h"

namespace stepscope {

// The parts of a run that its opening reads; they outlive it.
struct OpeningParts {
  const Intake* intake = nullptr;  // null: no marks are heard
  pid_t command = 0;               // 0: there is none
  const Sampler& sampler;
  JobSession& session;
  const Clock& clock;
};

// Tells the service what the node has, and what the run may use of it: at the start, once a driver
// that takes long has started, when a source appears, fails, recovers, or leaves out more or less
// than before, when the ranks turn out to use other GPUs or cores than the command, when
// they or the command become another user's, and when a Python runs torch without our hooks. For
// one thread, but for Of.
class Opening {
 public:
  Opening(const RunOptions& options, const OpeningParts& parts);

  // Returns when to call it again.
  Duration Update();

  // The run's part of a tick: see RunGpus.
  const TickRow& Of(const TickRow& node) { return gpus_.Of(node); }

 private:
  void SendStart();
  std::vector<std::int64_t> Processes() const;
  bool SourcesChanged(SteadyTime now);
  bool LimitsChanged(SteadyTime now);
  bool HooksChanged(SteadyTime now);
  void LookForOwner();

  const RunOptions& options_;
  const OpeningParts parts_;
  const HooksWay way_;
  const Time at_;
  const SteadyTime begun_;
  RunGpus gpus_;
  bool starting_ = true;
  std::uint32_t owner_uid_;
  std::unique_ptr<JobOwner> owner_;
  std::string user_;  // as sent to the service
  std::vector<SlowedReading> slowed_;
  std::vector<AbsentSource> absent_;
  SteadyTime sources_due_{}, limits_due_{}, hooks_due_{};
  std::optional<std::uint64_t> limits_changes_{};  // changes of the intake at the last reading
  ProcessLimits limits_;
  std::vector<std::int64_t> heard_;  // processes of ranks, at the last look
  std::string hooks_missing_;
  bool hooks_logged_ = false;
};

}  // namespace stepscope
