#include "agent/app/options/daemon_options.h"

#include <grp.h>

#include "agent/launch/pattern.h"
#include "core/base/text.h"
#include "core/model/names.h"

namespace stepscope {
namespace {

constexpr Option kDaemonOptions[] = {
    {"--socket", "PATH", "",
     "where training processes find the agent; by default agent.sock in /run/stepscope, or in the "
     "user's own folder",
     false, OptionSource::kCommandLineOnly},
    {"--allow-users", "WHO", "own",
     "whose processes are heard: own, all, or @GROUP for the members of a group"},
    {"--job-names", "PATTERNS", "",
     "the jobs that a process may name, such as '{user}-*': * and ? as in a shell; {user}, {group} "
     "and {uid} are those of the process; several with commas between them; by default every name"},
    {"--match", "PATTERN", "",
     "profile processes whose command line fits too, without their steps; each needs a job's name "
     "in its environment"},
    {"--end-after", "TIME", "30s",
     "how long after its last process a job has ended here, 1s to 1h; longer than a restart takes"},
};

Status ReadUsers(const std::string& who, DaemonOptions& options) {
  options.allow_all = who == "all";
  if (who == "own" || who == "all") return {};
  if (!who.starts_with('@')) return Invalid("must be own, all or @GROUP");
  const group* found = getgrnam(who.c_str() + 1);
  if (found == nullptr) return Invalid(Format("there is no group '{}'", Printable(who.substr(1))));
  options.group = found->gr_gid;
  return {};
}

}  // namespace

std::vector<Option> DaemonOptionTable() {
  return JoinRows({kDaemonOptions, UplinkRows(), NodeRows(), SecretRows(), SamplingRows(),
                   PushRows(), SpoolRows()});
}

Result<DaemonOptions> ReadDaemonOptions(const Arguments& arguments) {
  DaemonOptions options{.socket = arguments["--socket"]};
  options.jobs.node = ReadNode(arguments, "");
  if (Status node = CheckLabel("--node", options.jobs.node); !node) return node.error();
  if (Status users = ReadUsers(arguments["--allow-users"], options); !users) {
    return Invalid(Format("{} {}: {}", arguments.NameOf("--allow-users"),
                          Printable(arguments["--allow-users"], 40), users.error().message));
  }
  const auto names = NamePatterns::Parse(arguments["--job-names"]);
  if (!names) {
    return Invalid(Format("{}: {}", arguments.NameOf("--job-names"), names.error().message));
  }
  options.names = *names;
  const auto uplink = ReadUplink(arguments);
  if (!uplink) return uplink.error();
  const auto sampling = ReadSampling(arguments);
  if (!sampling) return sampling.error();
  const auto push = ReadPush(arguments);
  if (!push) return push.error();
  const auto spool = ReadSpool(arguments);
  if (!spool) return spool.error();
  const auto secrets = ReadSecrets(arguments);
  if (!secrets) return secrets.error();
  const auto allowed = ReadAllowed(arguments);
  if (!allowed) return allowed.error();
  const auto schedule = ReadSchedule(arguments);
  if (!schedule) return schedule.error();
  options.schedule = *schedule;
  options.match = arguments["--match"];
  if (const auto pattern = Pattern::Parse(options.match); !pattern) {
    return Invalid(Format("{} {}: {}", arguments.NameOf("--match"), Printable(options.match, 80),
                          pattern.error().message));
  }
  const auto end_after = ReadDuration(arguments, "--end-after", 1s, 1h);
  if (!end_after) return end_after.error();
  options.jobs.uplink = *uplink;
  options.jobs.sampling = *sampling;
  options.jobs.push = *push;
  options.jobs.allowed = *allowed;
  options.jobs.secrets = *secrets;
  options.jobs.end_after = *end_after;
  options.spool = *spool;
  return options;
}

}  // namespace stepscope
