// stepscope-server: ingest, rules, webhooks, REST API and web page in one program.

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "core/base/log.h"
#include "server/app/app.h"
#include "server/app/commands/command.h"
#include "server/app/commands/dump_command.h"
#include "server/app/commands/mcp_command.h"
#include "server/app/commands/report_command.h"
#include "server/app/commands/restore_command.h"
#include "server/app/commands/tls_command.h"
#include "server/app/commands/token_command.h"
#include "server/app/memory.h"
#include "server/app/open_files.h"
#include "server/app/options.h"
#include "server/app/signals.h"

namespace stepscope {
namespace {

constexpr std::string_view kExamples = R"(
Examples:
  stepscope-server
  stepscope-server --listen 127.0.0.1:9000 --data-dir /srv/stepscope
  STEPSCOPE_DATABASE_URL=postgresql://stepscope@db/stepscope stepscope-server
  stepscope-server --listen 0.0.0.0:8443 --tls-cert server.crt --tls-key server.key
  stepscope-server --listen 127.0.0.1:8080,unix:/run/stepscope/http.sock --require-tokens

Signals:
  TERM, INT  stop: requests that came before are answered, in 10 s at most; the second one is quicker
  HUP        read the files of --tls-cert, --tls-key and --client-ca again, for new connections; when
             one of them is bad, the log says so and the old ones stay
)";

int Serve(const Settings& settings) {
  KeepFreedMemory();
  const ServiceSignals signals;
  StartLog("stepscope-server", settings.log_level);
  RaiseOpenFiles();
  for (const std::string& warning : settings.warnings) LogWarning("{}", warning);
  const SystemClock clock;
  const auto pause = [&](Duration duration) { return !signals.EndsWithin(duration); };
  Result<std::unique_ptr<App>> app = App::Start(settings, clock, STEPSCOPE_VERSION, pause);
  if (!app) return Complain(app.error().message, kFailed);
  Print(stdout, Format("Stepscope is at {}/\n", (*app)->url()));
  if (settings.demands_tokens() && !settings.tls()) {
    LogWarning("no TLS: tokens travel in the clear on every way that is not this machine's own");
  }

  signals.WaitForEnd({}, [&] { (*app)->ReloadTls(); });
  LogInfo("stopping; a second signal makes it quicker");
  std::stop_source hurry;
  const Worker second("signals", [&](const std::stop_token& stop) {
    if (signals.WaitForEnd(stop)) hurry.request_stop();
    if (signals.WaitForEnd(stop)) _exit(kFailed);
  });
  (*app)->Stop(hurry.get_token());
  return 0;
}

// The commands by their names. Without one, or with an option first, the program serves.
std::vector<Subcommand> Commands() {
  return {{"card", "write the story of a job as a few lines of text (card --help)",
           [](Words words) { return RunCard(words, STEPSCOPE_VERSION); }},
          {"dump", "write the database to a file, for a backup (dump --help)", RunDump},
          {"mcp", "let an assistant ask about jobs (mcp --help)",
           [](Words words) { return RunMcp(words, STEPSCOPE_VERSION); }},
          {"report", "write what there is to say of a job to one HTML file (report --help)",
           [](Words words) { return RunReport(words, STEPSCOPE_VERSION); }},
          {"restore", "fill an empty database from such a file (restore --help)", RunRestore},
          {"tls", "certificates for a first set-up (tls --help)", RunTls},
          {"token", "who may do what: make, list and revoke tokens (token --help)", RunToken}};
}

int Help() {
  Print(stdout, "stepscope-server: where training jobs are watched, judged and shown.\n\n");
  Print(stdout, OptionsHelp(ServerOptions()));
  for (const Subcommand& command : Commands()) {
    Print(stdout, Format("\n  stepscope-server {:<10} {}", command.name, command.sentence));
  }
  Print(stdout, kExamples);
  return 0;
}

int RunServer(Words words) {
  const Result<Arguments> arguments = ParseServerArguments(words);
  if (!arguments) return Complain(arguments.error().message, kUsage);
  if (arguments->help) return Help();
  if (arguments->Has("--version")) {
    Print(stdout, "stepscope-server " STEPSCOPE_VERSION "\n");
    return 0;
  }
  const Result<Settings> settings = ReadSettings(*arguments);
  if (!settings) return Complain(settings.error().message, kUsage);
  return Serve(*settings);
}

int Main(Words words) {
  if (words.empty() || words[0][0] == '-') return RunServer(words);
  const std::vector<Subcommand> commands = Commands();
  const auto found = std::ranges::find(commands, std::string_view(words[0]), &Subcommand::name);
  if (found != commands.end()) return found->run(words.subspan(1));
  return Complain(Format("there is no command '{}'; see --help", Printable(words[0], 40)), kUsage);
}

}  // namespace
}  // namespace stepscope

int main(int count, char** words) {
  const std::vector<const char*> args(words + 1, words + count);
  return stepscope::Main(args);
}
