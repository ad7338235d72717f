// The command `stepscope-agent replay`.

#include <poll.h>

#include "agent/app/commands/agent_command.h"
#include "agent/app/options/common_options.h"
#include "agent/send/replayer.h"
#include "core/base/text.h"
#include "core/model/names.h"

namespace stepscope {
namespace {

constexpr Duration kBetweenWords = 5s;

constexpr std::string_view kReplayHelp =
    R"(Sends recordings to a service, as the agents that made them would have.

  stepscope-agent replay FILE... --server URL [--job NAME] [options]

Examples:
  stepscope-agent replay resnet.rec --server http://127.0.0.1:8080
  stepscope-agent replay node1.rec node2.rec --server http://monitor:8080   # one job, two nodes
  stepscope-agent replay resnet.rec --server http://monitor:8080 --job resnet-again

What was sent before is not stored twice: interrupt it, and start it again. Ends with 0 when the
service has everything, else with 1.
)";

constexpr Option kReplayOptions[] = {
    {"--job", "NAME", "", "another name for the job", false, OptionSource::kCommandLineOnly},
    {"--damaged", "", "", "send what can be read of a damaged recording", false,
     OptionSource::kCommandLineOnly},
};

std::string JobsOf(const Recording& recording, const std::string& job) {
  if (!job.empty()) return job;
  std::string jobs, last;
  for (const RecordedSession& session : recording.sessions()) {
    if (session.head.job != last)
      jobs += Format("{}{}", jobs.empty() ? "" : ", ", session.head.job);
    last = session.head.job;
  }
  return jobs;
}

Status CheckJob(const Recording& recording, const std::string& job) {
  if (job.empty()) return {};
  if (Status name = CheckJobName(job); !name) return name;
  for (const RecordedSession& session : recording.sessions()) {
    if (session.head.job == recording.sessions()[0].head.job) continue;
    return Invalid(Format("--job: there are several jobs in it: {}", JobsOf(recording, "")));
  }
  return {};
}

// False when the recording must not be sent.
bool Accept(const Recording& recording, bool damaged) {
  for (const std::string& damage : recording.damage()) LogWarning("{}", damage);
  if (recording.damage().empty() || damaged) return true;
  LogError("nothing was sent; --damaged sends what can be read");
  return false;
}

int ReportReplay(const ReplayFigures& figures, const Status& status, const std::string& jobs,
                 const Uplink& uplink) {
  if (!status) {
    LogError("{}; {} of {} frames are delivered{}", status.error().message, figures.done,
             figures.frames,
             status.error().code == Code::kUnavailable ? "; start it again to go on" : "");
    return kFailed;
  }
  const std::string refused = figures.refused == 0 ? std::string("none refused")
                                                   : Format("{} of them refused", figures.refused);
  PrintText(Format("{} frames delivered, {}: {}\n", figures.done, refused, uplink.PageOf(jobs)));
  return figures.refused == 0 ? 0 : kFailed;
}

Status SendAll(Replayer& replayer, const Clock& clock) {
  SteadyTime next_word = clock.Steady() + kBetweenWords;
  for (;;) {
    const auto more = replayer.Step();
    if (!more) return more.error();
    if (!*more) return {};
    if (clock.Steady() < next_word) continue;
    next_word += kBetweenWords;
    LogInfo("{} of {} frames", replayer.figures().done, replayer.figures().frames);
  }
}

int Replay(const Arguments& arguments, std::string_view) {
  if (arguments.rest.empty()) return ReportUsageError("the recording is missing: replay FILE");
  const auto options = ReadUplink(arguments);
  if (!options) return ReportUsageError(options.error().message);
  const auto uplink = Uplink::Make(*options);
  if (!uplink) return ReportUsageError(uplink.error().message);
  const auto recording = Recording::Open(arguments.rest);
  if (!recording) return LogError("{}", recording.error().message), kFailed;
  const std::string& job = arguments["--job"];
  if (Status named = CheckJob(*recording, job); !named)
    return ReportUsageError(named.error().message);
  if (!Accept(*recording, arguments.Has("--damaged"))) return kFailed;
  const SystemClock clock;
  Replayer replayer(
      *recording, job, [&](std::string body) { return (*uplink)->Post(std::move(body)); },
      [](Duration pause) { poll(nullptr, 0, static_cast<int>(pause / 1ms)); }, clock);
  const Status status = SendAll(replayer, clock);
  return ReportReplay(replayer.figures(), status, JobsOf(*recording, job), **uplink);
}

}  // namespace

AgentCommand ReplayRow() {
  return {.name = "replay",
          .sentence = "sends a recording to a service",
          .help = kReplayHelp,
          .options = JoinRows({kReplayOptions, UplinkRows()}),
          .run = Replay,
          .positional = true};
}

}  // namespace stepscope
