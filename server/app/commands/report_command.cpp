#include "server/app/commands/report_command.h"

#include <vector>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/model/names.h"
#include "server/app/options.h"
#include "server/app/service_database.h"
#include "server/app/settings.h"
#include "server/report/page/report_text.h"

namespace stepscope {
namespace {

constexpr std::string_view kReportExamples = R"(
The service may run meanwhile; of a job that runs the report is as of now.

  stepscope-server report my-first > my-first.html
  stepscope-server report my-first --json | jq .diagnosis.sentence
  stepscope-server report --data-dir /srv/stepscope --public-url https://stepscope.example my-first
)";

constexpr std::string_view kCardExamples = R"(
The service may run meanwhile; of a job that runs the card is as of now.

  stepscope-server card my-first
  stepscope-server card my-first | mail -s "my-first" me@example.com
)";

std::vector<Option> Options(bool card) {
  const std::span<const Option> data = DataOptions();
  std::vector<Option> options = {
      {"--public-url", "URL", "http://127.0.0.1:8080",
       "Address of the web page as people see it, for the link to the job."}};
  if (!card) {
    options.insert(
        options.begin(),
        {"--json", "", "", "As JSON, as GET /api/v1/jobs/JOB/report has it, instead of HTML."});
  }
  options.insert(options.end(), data.begin(), data.end());
  return options;
}

Result<std::string> Write(const Settings& settings, const ReportQuery& query, ReportForm form) {
  if (Status found = CheckHasDatabase(settings); !found) return found.error();
  Result<ServiceDatabase> database = OpenUnchangedDatabase(settings);
  if (!database) return database.error();
  Result<std::string> text = ReportText(*database->connection, query, form);
  if (text || text.error().code != Code::kNotFound) return text;
  const std::string place =
      settings.database_url.empty() ? settings.data_dir : "the database of --database-url";
  return NotFound(
      Format("{}; jobs are listed on the page and at /api/v1/jobs. It was looked for in {}: mind "
             "--data-dir and --database-url",
             text.error().message, place));
}

Result<std::string> Make(const Arguments& arguments, std::string_view version, bool card) {
  if (arguments.rest.size() != 1) return Invalid("the name of one job is wanted (see --help)");
  if (Status good = CheckJobName(arguments.rest[0]); !good) return good.error();
  Settings settings;
  if (Status read = ReadDataSettings(arguments, settings); !read) return read.error();
  StartLog("stepscope-server", LogLevel::kWarning);
  const SystemClock clock;
  const ReportQuery query{arguments.rest[0], arguments["--public-url"], std::string(version),
                          ToMicros(clock.Now())};
  if (card) return Write(settings, query, ReportForm::kCard);
  return Write(settings, query, arguments.Has("--json") ? ReportForm::kJson : ReportForm::kHtml);
}

std::string ReportHelp(std::span<const Option> options) {
  return Format(
      "stepscope-server report JOB: write what there is to say of a job as one HTML file, or as "
      "JSON.\n\n{}{}",
      OptionsHelp(options), kReportExamples);
}

std::string CardHelp(std::span<const Option> options) {
  return Format(
      "stepscope-server card JOB: write the story of a job as a few lines of text.\n\n{}{}",
      OptionsHelp(options), kCardExamples);
}

int Tell(Words words, std::string_view version, bool card) {
  const std::vector<Option> options = Options(card);
  const Result<Arguments> arguments = ParseArguments(options, words, true);
  if (arguments && arguments->help) {
    Print(stdout, card ? CardHelp(options) : ReportHelp(options));
    return 0;
  }
  const Result<std::string> made =
      arguments ? Make(*arguments, version, card) : Result<std::string>(arguments.error());
  if (made) return Print(stdout, *made), 0;
  return Complain(Format("{}: {}", card ? "card" : "report", made.error().message),
                  made.error().code == Code::kInvalid ? kUsage : kFailed);
}

}  // namespace

int RunReport(Words words, std::string_view version) {
  return Tell(words, version, false);
}

int RunCard(Words words, std::string_view version) {
  return Tell(words, version, true);
}

}  // namespace stepscope
