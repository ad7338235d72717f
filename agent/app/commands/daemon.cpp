#include "agent/app/commands/daemon.h"

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>

#include "agent/app/job/job_naming.h"
#include "agent/app/job/live_socket.h"
#include "agent/app/job/node_jobs.h"
#include "agent/app/job/service_notice.h"
#include "agent/app/job/spool_drain.h"
#include "agent/launch/command.h"
#include "agent/launch/python_start.h"
#include "agent/launch/startup_pages.h"
#include "agent/launch/unheard_pythons.h"
#include "agent/sample/sample_loop.h"
#include "agent/traces/trace_turns.h"
#include "core/base/log.h"

namespace stepscope {
namespace {

constexpr Duration kUpdatePause = 500ms;
constexpr Duration kDaemonLastWait = 8s;
constexpr Duration kBetweenScans = 10s;  // a walk over /proc

// Raises the limit of open files: each process and each job takes a descriptor.
void AllowManyFiles() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
  setrlimit(RLIMIT_NOFILE, &files);
}

Result<std::unique_ptr<Intake>> StartIntake(const DaemonOptions& options, const JobNaming& naming,
                                            const Clock& clock) {
  IntakeOptions intake;
  intake.socket_path = options.socket;
  intake.allow_other_users = options.allow_all;
  intake.group = options.group;
  intake.schedule = ToRequest(options.schedule);
  intake.name_job = [naming](const MarkHello& hello, const MarkCaller& caller) {
    return naming.NameOf(hello, caller);
  };
  return Intake::Start(intake, clock);
}

// Serves `top`; without it the daemon goes on.
std::unique_ptr<LiveSocket> StartLive(const Intake& intake, const NodeJobs& jobs) {
  auto live = LiveSocket::Start(intake.socket_path() + kLiveEnding, intake.access(),
                                [&jobs] { return JobsText(jobs.Live()); });
  if (live) return std::move(*live);
  LogWarning("top will not see the jobs: {}", live.error().message);
  return nullptr;
}

// Whether a signal that asks to end came within the time.
bool EndWithin(CommandSignals& signals, std::vector<pollfd> others, Duration time) {
  others.push_back({signals.descriptor(), POLLIN, 0});
  poll(others.data(), others.size(), static_cast<int>(time / 1ms));
  bool end = false;
  while (const auto arrival = signals.Next()) end = end || AsksToEnd(arrival->signal);
  ReapChildren();  // as process 1 of a container, the daemon inherits what others leave behind
  return end;
}

// Waits for the delivery, not longer than a service manager waits; a second signal ends the wait.
void Deliver(NodeJobs& jobs, CommandSignals& signals, const Clock& clock) {
  const SteadyTime until = clock.Steady() + kDaemonLastWait;
  for (auto waiting = jobs.WaitingDescriptors(); !waiting.empty();
       waiting = jobs.WaitingDescriptors()) {
    const Duration left = until - clock.Steady();
    if (left <= 0ns) break;
    std::vector<pollfd> watched;
    for (const int descriptor : waiting) watched.push_back({descriptor, POLLIN, 0});
    if (EndWithin(signals, std::move(watched), left)) break;
  }
  jobs.HandOver();
}

// Whose processes count that do not connect: every user's, or the daemon's own user's. Their groups
// are not known.
std::function<bool(std::uint32_t)> AllowedOf(const DaemonOptions& options) {
  return [all = options.allow_all](std::uint32_t user) { return all || user == geteuid(); };
}

// Finds processes by --match.
std::unique_ptr<ProcessMatch> MakeMatch(const DaemonOptions& options, const JobNaming& naming) {
  if (options.match.empty()) return nullptr;
  auto pattern = Pattern::Parse(options.match);
  if (!pattern) return nullptr;  // checked with the options
  return std::make_unique<ProcessMatch>(
      options.jobs.sampling.root, std::move(*pattern), AllowedOf(options),
      [naming](const MatchedProcess& process) {
        return naming.MayName(process.job, {process.pid, process.user, process.group});
      });
}

// Logs which trainings name a job and cannot be heard, now and then.
class UnheardReport {
 public:
  UnheardReport(const DaemonOptions& options, const Intake& intake)
      : intake_(intake),
        unheard_({.root = options.jobs.sampling.root,
                  .start_folder = PythonStartFolder(OwnProgram()),
                  .socket = intake.socket_path(),
                  .started_here = false},
                 AllowedOf(options)) {}

  void Update(SteadyTime now) {
    if (now < due_) return;
    due_ = now + kBetweenScans;
    std::set<std::int64_t> connected;
    for (const HeardJob& job : intake_.Jobs()) {
      for (const HeardProcess& process : job.processes) connected.insert(process.pid);
    }
    for (const std::string& sentence : unheard_.Scan(connected)) LogWarning("{}", sentence);
  }

 private:
  const Intake& intake_;
  UnheardPythons unheard_;
  SteadyTime due_{};
};

// Sets the sampling interval; a change wakes the sampling thread.
void Follow(Duration wanted, Guarded<Duration>& interval) {
  const Duration now = interval.Read([](Duration value) { return value; });
  if (now != wanted) interval.Change([&](Duration& value) { value = wanted; });
}

}  // namespace

int RunDaemon(const DaemonOptions& options) {
  AllowManyFiles();
  // Reports wrong options now rather than at the first job.
  if (const auto uplink = Uplink::Make(options.jobs.uplink); !uplink) {
    LogError("{}", uplink.error().message);
    return 2;
  }
  CommandSignals signals;
  const SystemClock clock;
  const JobNaming naming(options.jobs.sampling.root, options.names);
  auto intake = StartIntake(options, naming, clock);
  if (!intake) {
    LogError("{}", intake.error().message);
    return 1;
  }
  Sampler sampler(options.jobs.sampling.root, clock, options.jobs.sampling.core_share);
  const auto spool = OpenSpool(options.spool);
  SpoolDrain others(spool.get(), options.jobs.uplink, clock);
  NodeJobOptions each = options.jobs;
  StreamCount streams;
  each.spool = spool.get();
  each.streams = &streams;
  TraceTurns traces;
  each.traces = &traces;
  const auto match = MakeMatch(options, naming);
  NodeJobs jobs(each, **intake, match.get(), sampler, others, clock);
  Guarded<Duration> interval(options.jobs.sampling.interval);
  auto samples = std::make_unique<SampleLoop>(
      sampler, [&](Time at, const TickRow& row) { jobs.Add(at, row); }, interval, clock);
  const auto live = StartLive(**intake, jobs);
  ReleaseStartupPages();
  LogInfo("node {}: training processes are heard at {}", options.jobs.node,
          (*intake)->socket_path());
  NotifyService("READY=1");
  UnheardReport unheard(options, **intake);
  do {
    jobs.Update();
    unheard.Update(clock.Steady());
    Follow(jobs.Interval(), interval);
  } while (!EndWithin(signals, {}, kUpdatePause));
  NotifyService("STOPPING=1");
  // Marks of a process that connected just now would be read, and lost.
  jobs.Update();
  samples.reset();
  jobs.Finish();
  Deliver(jobs, signals, clock);
  return 0;
}

}  // namespace stepscope
