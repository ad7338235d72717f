#include "agent/app/commands/run.h"

#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "agent/app/job/command_wait.h"
#include "agent/app/job/end_card.h"
#include "agent/app/job/end_report.h"
#include "agent/app/job/execute_command.h"
#include "agent/app/job/first_agent.h"
#include "agent/app/job/free_name.h"
#include "agent/app/job/job_session.h"
#include "agent/app/job/live_socket.h"
#include "agent/app/job/memory_kills.h"
#include "agent/app/job/opening.h"
#include "agent/app/job/rank_processes.h"
#include "agent/app/job/spool_drain.h"
#include "agent/frames/rank_evaluation.h"
#include "agent/frames/rank_metrics.h"
#include "agent/host/process.h"
#include "agent/launch/command.h"
#include "agent/launch/log_metric.h"
#include "agent/launch/process_start.h"
#include "agent/launch/relay.h"
#include "agent/launch/startup_pages.h"
#include "agent/sample/sample_loop.h"
#include "agent/traces/trace_sender.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr Duration kRunLastWait = 10s;
constexpr Duration kDrainWait = 2s;
constexpr Duration kTraceWait = 5s;

// A terminal stays the command's own, with its keys, its size and its job control: a relay is one
// without them, and only --log-metric asks for it.
std::unique_ptr<Relay> StartRelay(const RunOptions& options) {
  const bool lines = !options.log_metrics.empty();
  const bool errors = options.travelling_output && isatty(STDERR_FILENO) == 0;
  if (options.command.empty() || (!errors && !lines)) return nullptr;
  auto relay = Relay::Start(lines);
  if (relay) return std::move(*relay);
  LogWarning("the command's output is not read: {}", relay.error().message);
  return nullptr;
}

// The socket is named after the job, so that processes find an agent that starts again where the
// first one was.
Result<std::unique_ptr<Intake>> StartIntakeAt(const std::string& path, const std::string& name,
                                              const WindowSchedule& schedule, const Clock& clock) {
  IntakeOptions options;
  options.socket_path = path;
  options.schedule = ToRequest(schedule);
  if (path.empty()) {
    auto standard = DefaultSocketPath(name);
    if (!standard) return standard.error();
    options.socket_path = *standard;
  }
  return Intake::Start(options, clock);
}

std::unique_ptr<Intake> StartIntake(const RunOptions& options, const Clock& clock) {
  auto intake = StartIntakeAt(options.socket, options.job, options.schedule, clock);
  if (!intake && options.socket.empty()) {
    intake = StartIntakeAt("", Format("{}-{}", options.job, getpid()), options.schedule, clock);
  }
  if (intake) return std::move(*intake);
  LogWarning("training steps cannot be recorded: {}", intake.error().message);
  return nullptr;
}

CommandOptions MakeCommand(const RunOptions& options, const Intake* intake, const Relay* relay) {
  CommandOptions command{.words = options.command,
                         .environment = CommandVariables(options),
                         .hidden = {kTokenVariable}};
  if (intake != nullptr)
    command.environment.emplace_back("STEPSCOPE_SOCKET", intake->socket_path());
  if (relay == nullptr) return command;
  command.standard_error = relay->error();
  command.standard_output = relay->output();
  return command;
}

// Serves `top`; without it the run goes on.
std::unique_ptr<LiveSocket> StartLive(const RunOptions& options, const Intake* intake,
                                      const JobSession& session) {
  if (intake == nullptr) return nullptr;
  auto live = LiveSocket::Start(intake->socket_path() + kLiveEnding, intake->access(), [&] {
    return JobsText({TopJob{.job = options.job, .ranks = session.Ranks()}});
  });
  return live ? std::move(*live) : nullptr;
}

// False when the time is over, or the user interrupts the wait.
bool WaitForDelivery(const JobSession& session, CommandSignals& signals, const Clock& clock) {
  const SteadyTime until = clock.Steady() + kRunLastWait;
  for (;;) {
    const Duration left = until - clock.Steady();
    if (left <= 0ns) return false;
    pollfd watched[] = {{session.done_descriptor(), POLLIN, 0}, {signals.descriptor(), POLLIN, 0}};
    poll(watched, 2, static_cast<int>(left / 1ms) + 1);
    if (watched[0].revents != 0) return true;
    ReapChildren();
    while (const auto arrival = signals.Next())
      if (AsksToEnd(arrival->signal)) return false;
  }
}

// Prints the card below what the command wrote. A signal ends the wait for its verdict.
void ReportCard(const RunOptions& options, CommandSignals& signals) {
  const auto pause = [&signals](Duration time) {
    pollfd watched{signals.descriptor(), POLLIN, 0};
    poll(&watched, 1, static_cast<int>(time / 1ms));
    while (const auto arrival = signals.Next())
      if (AsksToEnd(arrival->signal)) return false;
    return true;
  };
  const auto card = AskEndCard(options.uplink, options.job, pause);
  if (!card) return LogWarning("no card of job {}: {}", options.job, card.error().message);
  std::fputs(Format("\n{}", *card).c_str(), stderr);
}

void ReportJobName(const RunOptions& options) {
  if (!options.job_as_given.empty())
    LogInfo("job {} is called {}: a name has letters, digits and '-'",
            Printable(options.job_as_given, 80), options.job);
  if (options.named_by.empty()) return;
  LogInfo("job {} of node {}, named by {}", options.job, options.node, options.named_by);
}

void WarnOfOpenFiles(const UplinkOptions& options) {
  for (const std::string& path : {options.token_file, options.key_file}) {
    if (Status kept = CheckPrivate(path); !kept) LogWarning("{}", kept.error().message);
  }
}

Result<std::unique_ptr<Uplink>> MakeUplink(const RunOptions& options) {
  if (options.record_to.empty()) return Uplink::Make(options.uplink);
  auto recording = RecordingWriter::Create(options.record_to);
  if (!recording) return recording.error();
  return Uplink::To(std::move(*recording));
}

void AddLogMetrics(const RunOptions& options, Relay* relay, Sampler& sampler) {
  if (relay == nullptr || options.log_metrics.empty()) return;
  std::vector<LogPattern> patterns;
  for (const std::string& text : options.log_metrics)
    if (auto pattern = LogPattern::Parse(text)) patterns.push_back(std::move(*pattern));
  sampler.Add("output", std::make_unique<LogMetrics>(std::move(patterns), relay->TakeLines()));
}

// The last lines of output, once all of it is passed on and can be read; nothing where they are not
// to be known.
std::optional<std::vector<std::string>> LastOutput(const RunOptions& options, Relay* relay) {
  if (relay == nullptr) return std::nullopt;
  auto lines = relay->Drain(kDrainWait, options.secrets.more_names);
  if (const auto lost = relay->lines_lost(); lost > 0) {
    LogWarning("{} lines of output came too fast to be read for --log-metric", lost);
  }
  return options.travelling_output ? std::optional(std::move(lines)) : std::nullopt;
}

int ReportStartError(const Error& error) {
  LogError("{}", error.message);
  return error.code == Code::kNotFound ? 127 : 126;
}

// Another run of this name has ended: says so first, and takes the next name. Processes find the
// agent by the name that they were started with.
RunOptions WithFreeName(const RunOptions& given, const Clock& clock) {
  RunOptions options = given;
  if (given.strict_name || !given.named_by.empty() || !given.record_to.empty()) return options;
  options.job = FreeJobName(given.uplink, given.job, clock);
  if (options.job == given.job) return options;
  LogInfo("job {} has ended before: this run is {} (--strict-name keeps the name)", given.job,
          options.job);
  return options;
}

// The whole run; all that it has made is gone when it returns.
CommandEnd Profile(const RunOptions& given) {
  auto uplink = MakeUplink(given);
  if (!uplink) {
    LogError("{}", uplink.error().message);
    return {.exit_code = 2};
  }
  WarnOfOpenFiles(given.uplink);
  CommandSignals signals;
  if (!given.command.empty()) AdoptOrphans();
  const SystemClock clock;
  const MemoryKills kills = ReadMemoryKills(given.root);
  const auto relay = StartRelay(given);
  const RunOptions options = WithFreeName(given, clock);
  const auto intake = StartIntake(given, clock);
  std::optional<ProfiledCommand> command;
  if (!options.command.empty()) {
    auto started = ProfiledCommand::Start(MakeCommand(options, intake.get(), relay.get()), signals);
    if (!started) return {.exit_code = ReportStartError(started.error())};
    command = *started;
  }
  if (relay) relay->CloseInputs();

  Sampler sampler(options.root, clock, options.core_share);
  sampler.AddPlanned(
      "process",
      MakeProcessCollector(
          options.root, ListTrainingOf(intake.get(), command ? command->pid() : 0),
          [&sampler](SteadyTime now, auto& on_gpus) { sampler.GpuProcessesInto(now, on_gpus); }));
  AddLogMetrics(options, relay.get(), sampler);
  const auto metrics = [&intake](const UseMetric& use) { intake->TakeMetrics("", use); };
  if (intake) sampler.Add("metrics", std::make_unique<RankMetrics>(metrics));
  const auto evaluated = [&intake](const UseEvaluated& use) { intake->TakeEvaluated("", use); };
  if (intake) sampler.Add("evaluation", std::make_unique<RankEvaluation>(evaluated));
  const DrainMarks drain = [&intake] { return intake->Drain(); };
  Guarded<Duration> interval(options.interval);
  const Event stop;
  CommandHandlers powers{interval, AskIn(intake.get(), ""), KeepIn(intake.get(), "")};
  if (command) powers.stop = [&stop] { stop.Set(); };
  const auto spool = OpenSpool(options.spool);
  const SpoolDrain others(spool.get(), options.uplink, clock);
  TraceSender traces(options.uplink, options.job, spool.get(), clock);
  JobSession session(
      {options.job, options.node, options.push,
       [&](const ServiceCommand& asked) { return ExecuteCommand(asked, options.allowed, powers); },
       spool.get(), options.uplink.server,
       [&traces](RankTrace trace) { traces.Add(std::move(trace)); }},
      **uplink, intake ? drain : DrainMarks(), clock);
  Opening opening(options, {intake.get(), command ? command->pid() : 0, sampler, session, clock});
  ReportJobName(options);
  if (options.assumes_server)
    LogInfo("no --server, STEPSCOPE_SERVER or configuration names the service: {} is taken",
            options.uplink.server);
  LogInfo("job {}: {}", options.job, (*uplink)->PageOf(options.job));
  if (const std::string kineto = KinetoNote(Variable); !kineto.empty()) LogWarning("{}", kineto);

  auto samples = std::make_unique<SampleLoop>(
      sampler, [&](Time at, const TickRow& row) { session.Add(at, opening.Of(row)); }, interval,
      clock);
  const auto live = StartLive(options, intake.get(), session);
  ReleaseStartupPages();
  CommandEnd end = WaitForEnd({.command = command ? &*command : nullptr,
                               .signals = signals,
                               .update = [&opening] { return opening.Update(); },
                               .stop = stop,
                               .others = [&intake] { return PidsOf(RanksOf(intake.get())); },
                               .grace = options.grace,
                               .clock = clock});
  const Time ended_at = clock.Now();
  if (end.ShellCode() != 0) end.reason = KilledBetween(kills, ReadMemoryKills(options.root));
  samples.reset();
  const auto output = LastOutput(options, relay.get());
  if (const TickRow& last = sampler.Sample(); HasCustom(last))
    session.Add(clock.Now(), opening.Of(last));
  if (session.Reason().empty()) others.AwaitKnown(options.job);
  session.Finish(EndedEvent(ended_at, end, output));
  if (!WaitForDelivery(session, signals, clock)) (*uplink)->Stop();
  traces.Finish(session.Reason().empty() ? kTraceWait : Duration(0));
  ReportEnd(options.job, end, session, session.HandOver());
  if (options.card) ReportCard(options, signals);
  return end;
}

}  // namespace

int RunCommand(const RunOptions& options) {
  if (const std::string first = SocketOfFirstAgent(options); !first.empty()) {
    return BecomeCommand(options, first);
  }
  return EndAs(Profile(options));
}

}  // namespace stepscope
