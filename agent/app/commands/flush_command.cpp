// The command `stepscope-agent flush`.

#include <signal.h>

#include <filesystem>

#include "agent/app/commands/agent_command.h"
#include "agent/app/job/old_sessions.h"
#include "agent/app/options/common_options.h"
#include "agent/app/options/spool_options.h"
#include "agent/traces/old_traces.h"
#include "core/base/text.h"
#include "core/base/worker.h"

namespace stepscope {
namespace {

constexpr std::string_view kFlushHelp =
    R"(Delivers the samples and traces that agents which are no more have left in the spool of this
machine.

  stepscope-agent flush --server URL [options]

Examples:
  stepscope-agent flush --server http://monitor:8080
  stepscope-agent flush --server https://monitor:8443 --token-file agent.token --wait 10m
  stepscope-agent flush --server http://new-monitor:8080 --all    # the service has moved

Says what it delivered and what is left. Ends with 0 when nothing is left, else with 1.
)";

constexpr Option kFlushOptions[] = {
    {"--wait", "TIME", "30s", "how long to go on while the service takes nothing, 1s to 24h", false,
     OptionSource::kCommandLineOnly},
    {"--all", "", "", "also what was meant for another service", false,
     OptionSource::kCommandLineOnly},
};

struct FlushOptions {
  UplinkOptions uplink{};
  SpoolOptions spool{};
  Duration wait = 30s;
  bool all = false;
};

Result<FlushOptions> ReadFlush(const Arguments& arguments) {
  const auto uplink = ReadUplink(arguments);
  if (!uplink) return uplink.error();
  const auto spool = ReadSpool(arguments);
  if (!spool) return spool.error();
  const auto wait = ReadDuration(arguments, "--wait", 1s, 24h);
  if (!wait) return wait.error();
  if (spool->folder.empty()) return Invalid("--spool: there is no folder to deliver from");
  return FlushOptions{*uplink, *spool, *wait, arguments.Has("--all")};
}

// Takes steps, each of which delivers something of `old`, until nothing is left or nothing was
// delivered for `at_most`.
template <typename Old, typename Step>
void DeliverAll(Old& old, Step&& step, const Clock& clock, Duration at_most) {
  SteadyTime well = clock.Steady();
  while (!old.empty() && clock.Steady() - well < at_most) {
    const Duration wait = step();
    if (old.reason().empty()) well = clock.Steady();
    if (!old.empty()) SleepFor({}, std::min(wait, at_most));
  }
}

// Names the hosts whose sessions stay: only a host itself knows whether its agents live.
void NameOtherHosts(const SpoolOptions& spool) {
  std::error_code failed;
  if (spool.older.empty()) return;
  for (const auto& entry : std::filesystem::directory_iterator(spool.older, failed)) {
    const std::string path = entry.path().string();
    if (path == spool.folder || !entry.is_directory(failed)) continue;
    const auto folder = OpenSpoolFolder(path, spool.bytes);
    if (!folder || (*folder)->Sessions().empty()) continue;
    PrintText(
        Format("another host has samples in {}; where no agent runs there any more, "
               "--spool with this folder delivers them\n",
               Printable(path)));
  }
}

int Report(const OldSessions& sessions, const OldTraces& traces, const std::string& folder) {
  for (const OldSessions::Left& left : sessions.left()) {
    PrintText(Format("not delivered: {} frames of job {}: {}\n", left.figures.frames_waiting,
                     left.job, left.reason.empty() ? "no time left" : left.reason));
  }
  for (const std::string& name : traces.Left()) {
    PrintText(Format("not delivered: {}: {}\n", name,
                     traces.reason().empty() ? "no time left" : traces.reason()));
  }
  const bool nothing = sessions.empty() && traces.empty();
  const std::string more = traces.sent() > 0 ? Format(" and {} traces", traces.sent()) : "";
  PrintText(Format("delivered {} frames{}; {} is left in {}\n", sessions.delivered_frames(), more,
                   nothing ? "nothing" : "something", Printable(folder)));
  return nothing ? 0 : kFailed;
}

int Flush(const Arguments& arguments, std::string_view) {
  const auto options = ReadFlush(arguments);
  if (!options) return ReportUsageError(options.error().message);
  auto uplink = Uplink::Make(options->uplink);
  if (!uplink) return ReportUsageError(uplink.error().message);
  auto traces_uplink = MakeTraceUplink(options->uplink);
  if (!traces_uplink) return ReportUsageError(traces_uplink.error().message);
  const auto folder = TakeSpool(options->spool);
  if (!folder) {
    PrintText(Format("the spool cannot be used: {}\n", folder.error().message));
    return kFailed;
  }
  signal(SIGPIPE, SIG_IGN);
  const SystemClock clock;
  OldSessions sessions(
      **folder, options->all ? "" : options->uplink.server,
      [&](std::string body) { return (*uplink)->Post(std::move(body)); }, clock);
  DeliverAll(
      sessions, [&] { return sessions.Step(); }, clock, options->wait);
  OldTraces traces(**folder, options->all ? "" : options->uplink.server);
  if (sessions.empty()) {
    DeliverAll(
        traces, [&] { return traces.Step(**traces_uplink); }, clock, options->wait);
  }
  NameOtherHosts(options->spool);
  return Report(sessions, traces, options->spool.folder);
}

}  // namespace

AgentCommand FlushRow() {
  return {.name = "flush",
          .sentence = "delivers what other agents have left in the spool",
          .help = kFlushHelp,
          .options = JoinRows({kFlushOptions, UplinkRows(), SpoolRows()}),
          .run = Flush};
}

}  // namespace stepscope
