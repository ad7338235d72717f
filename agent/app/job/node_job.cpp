#include "agent/app/job/node_job.h"

#include <algorithm>
#include <utility>

#include "agent/app/job/execute_command.h"
#include "agent/frames/rank_evaluation.h"
#include "agent/frames/rank_metrics.h"
#include "agent/host/cgroup.h"
#include "agent/launch/openable_gpus.h"
#include "agent/launch/process_gpus.h"
#include "agent/launch/process_start.h"
#include "agent/launch/python_start.h"
#include "core/base/log.h"

namespace stepscope {
namespace {

constexpr Duration kHooksCheckPause = 10s;
constexpr Duration kAbsentCheckPause = 60s;  // a source's shortfall may change all the time

// Whether a process of the job is connected: --match finds those that are not, too.
bool IsHeard(const Intake& intake, const std::string& name) {
  const auto jobs = intake.Jobs();
  return std::ranges::any_of(
      jobs, [&](const HeardJob& job) { return job.job == name && !job.processes.empty(); });
}

}  // namespace

Result<std::unique_ptr<NodeJob>> NodeJob::Start(const HeardJob& job, const NodeJobOptions& options,
                                                Intake& intake, const Sampler& sampler,
                                                const Clock& clock) {
  auto uplink = Uplink::Make(options.uplink);
  if (!uplink) return uplink.error();
  return std::unique_ptr<NodeJob>(
      new NodeJob(job, options, intake, sampler, clock, std::move(*uplink)));
}

NodeJob::NodeJob(const HeardJob& job, const NodeJobOptions& options, Intake& intake,
                 const Sampler& sampler, const Clock& clock, std::unique_ptr<Uplink> uplink)
    : name_(job.job),
      options_(options),
      interval_(options.sampling.interval),
      intake_(intake),
      sampler_(sampler),
      clock_(clock),
      started_(clock.Now()),
      owner_(job.user),
      way_{.root = options.sampling.root,
           .start_folder = PythonStartFolder(OwnProgram()),
           .socket = intake.socket_path(),
           .user = job.user,
           .started_here = false,
           .names_script = options.secrets.sends_command},
      uplink_(std::move(uplink)),
      traces_(options.uplink, job.job, options.spool, clock, options.traces) {
  ticks_.Change([&](Ticks& ticks) {
    const ListTraining list = [&ticks](auto& training) { training = ticks.training; };
    ticks.processes = MakeProcessCollector(
        options.sampling.root, list,
        [this](auto now, auto& processes) { sampler_.GpuProcessesInto(now, processes); });
    ticks.cgroup = MakeJobCgroupCollector(options.sampling.root, list);
    ticks.metrics = std::make_unique<RankMetrics>(
        [this](const UseMetric& use) { intake_.TakeMetrics(name_, use); });
    ticks.evaluation = std::make_unique<RankEvaluation>(
        [this](const UseEvaluated& use) { intake_.TakeEvaluated(name_, use); });
  });
  const DrainMarks drain = [this] { return hears_ ? intake_.Drain(name_) : IntakeBatch(); };
  const AskRanks ask = AskIn(&intake_, name_);
  const KeepSpans keep = KeepIn(&intake_, name_);
  session_ = std::make_unique<JobSession>(
      JobSessionOptions{
          .job = name_,
          .node = options.node,
          .push = options.push,
          .obey =
              [this, ask, keep](const ServiceCommand& asked) {
                return stepscope::ExecuteCommand(asked, options_.allowed, {interval_, ask, keep});
              },
          .spool = options.spool,
          .service = options.uplink.server,
          .take_trace = [this](RankTrace trace) { traces_.Add(std::move(trace)); },
          .streams = options.streams},
      *uplink_, drain, clock);
  See(job.processes);
  // The service accepts no marks of a job before its start.
  hears_ = true;
}

// Does not wait for a push in flight.
NodeJob::~NodeJob() {
  uplink_->Stop();
}

void NodeJob::Add(Time at, const TickRow& node) {
  ticks_.Change([&](Ticks& ticks) {
    TickRow& row = ticks.row.Of(node);
    // Values that could not be read are missing.
    [[maybe_unused]] Status read = ticks.processes->Collect(clock_.Steady(), row);
    read = ticks.cgroup->Collect(clock_.Steady(), row);
    read = ticks.metrics->Collect(clock_.Steady(), row);
    read = ticks.evaluation->Collect(clock_.Steady(), row);
    session_->Add(at, row);
  });
}

void NodeJob::See(const std::vector<HeardProcess>& processes) {
  if (processes.empty()) {
    if (!gone_since_) gone_since_ = clock_.Steady(), gone_at_ = clock_.Now();
  } else {
    gone_since_.reset();
  }
  const auto gpus = sampler_.Gpus();
  if (gpus.size() != std::exchange(gpus_known_, gpus.size())) seen_.clear();
  std::map<std::int64_t, bool> seen;
  bool changed = !std::exchange(start_sent_, true);
  for (const HeardProcess& process : processes) {
    seen[process.pid] = process.on_cpu;
    const auto before = seen_.find(process.pid);
    if (before != seen_.end() && before->second == process.on_cpu) continue;
    const ProcessStart start = ReadProcessStart(options_.sampling.root, process.pid);
    if (command_.empty()) command_ = start.command;
    if (const auto names = NamesOfProcess(name_, start.environment); names && group_.empty())
      group_ = names->group;
    owner_.Learn(start.environment);
    if (kineto_.empty()) NoteKineto(start.environment);
    if (process.on_cpu) of_ranks_.Clear(process.rank);
    if (process.on_cpu) continue;
    const auto openable = OpenableGpus(options_.sampling.root, process.pid, gpus);
    of_ranks_.Add(process.rank, GpusOfProcess(start.environment, process.devices, gpus, openable));
  }
  std::set<std::string> devices = of_ranks_.All();
  changed = std::exchange(gpus_, devices) != devices || changed;
  if (std::exchange(seen_, seen) != seen) changed = LimitsChanged() || changed;
  ticks_.Change([&](Ticks& ticks) {
    ticks.row.SetGpus(gpus_);
    ticks.training.clear();
    for (const HeardProcess& process : processes)
      ticks.training.push_back({Format("rank{}", process.rank), process.pid});
  });
  changed = HooksChanged(processes) || changed;
  changed = changed || owner_.User() != user_;
  if (changed || AbsentChanged()) SendStart();
}

bool NodeJob::HooksChanged(const std::vector<HeardProcess>& processes) {
  const SteadyTime now = clock_.Steady();
  if (processes.empty() || now - hooks_checked_at_ < kHooksCheckPause) return false;
  hooks_checked_at_ = now;
  std::string missing;
  if (!IsHeard(intake_, name_)) {
    for (const HeardProcess& process : processes) {
      if (missing.empty()) missing = WhyWithoutHooks(way_, process.pid);
    }
  }
  return std::exchange(hooks_missing_, missing) != missing;
}

bool NodeJob::LimitsChanged() {
  if (seen_.empty()) return false;
  std::vector<std::int64_t> pids;
  for (const auto& [pid, on_cpu] : seen_) pids.push_back(pid);
  const ProcessLimits limits =
      ReadProcessLimits(options_.sampling.root, pids, CgroupTop::kIsAnother);
  if (limits.cores == 0) return false;
  return std::exchange(limits_, limits) != limits;
}

void NodeJob::NoteKineto(const Environment& environment) {
  kineto_ = KinetoNote(environment);
  if (!kineto_.empty()) LogWarning("job {}: {}", name_, kineto_);
}

bool NodeJob::AbsentChanged() {
  const SteadyTime now = clock_.Steady();
  if (now - absent_checked_at_ < kAbsentCheckPause) return false;
  absent_checked_at_ = now;
  return Absent() != absent_ || sampler_.Slowed() != slowed_;
}

void NodeJob::SendStart() {
  JobStart start{started_,
                 group_,
                 options_.sampling.interval,
                 command_,
                 ReadNodeFacts(options_.sampling.root),
                 options_.secrets};
  start.facts.user = user_ = owner_.User();
  start.facts.account = owner_.account();
  start.facts.limits = limits_;
  start.facts.hooks_missing = hooks_missing_;
  start.facts.agent_version = options_.agent_version;
  Allowed allowed = options_.allowed;
  allowed.stop = false;  // the agent started no command that it could stop
  start.facts.allows = AllowedWords(allowed);
  for (GpuFacts& gpu : sampler_.Gpus()) {
    if (gpus_.contains(gpu.device)) start.facts.gpus.push_back(std::move(gpu));
  }
  start.facts.slowed = sampler_.Slowed();
  start.facts.absent = Absent();
  session_->SendStart(start);
  absent_ = std::move(start.facts.absent);
  slowed_ = std::move(start.facts.slowed);
  absent_checked_at_ = clock_.Steady();
}

std::vector<AbsentSource> NodeJob::Absent() const {
  std::vector<AbsentSource> absent = sampler_.Absent();
  // The agent's own control group; the job's is another one.
  std::erase_if(absent, [](const AbsentSource& one) { return one.source == "cgroup"; });
  ticks_.Read([&](const Ticks& ticks) {
    for (auto& [source, reason] : {AbsentSource{"process", ticks.processes->Shortfall()},
                                   AbsentSource{"cgroup", ticks.cgroup->Shortfall()}}) {
      if (!reason.empty()) absent.push_back({source, reason});
    }
  });
  if (!kineto_.empty()) absent.push_back({"kineto", kineto_});
  return absent;
}

bool NodeJob::HasEnded() {
  if (!gone_since_) return false;
  const bool waited = clock_.Steady() - *gone_since_ >= options_.end_after;
  if (!waited && !Over()) return false;
  // Comes first: a process that connects from now on belongs to a new life of the job.
  hears_ = false;
  if (intake_.Forget(name_)) return true;
  hears_ = true;
  return false;
}

void NodeJob::Finish() {
  session_->Finish(gone_since_ ? UnobservedEndEvent(gone_at_) : "");
}

bool NodeJob::HandOver() {
  uplink_->Stop();
  return session_->HandOver();
}

}  // namespace stepscope
