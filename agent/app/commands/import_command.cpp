// The command `stepscope-agent import`.

#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "agent/app/commands/agent_command.h"
#include "agent/app/commands/trace_files.h"
#include "agent/app/options/common_options.h"
#include "agent/traces/pack_trace.h"
#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/base/worker.h"
#include "core/model/names.h"

namespace stepscope {
namespace {

constexpr std::string_view kImportHelp =
    R"(Sends trace files of a profiler to a service: what happened inside of a few steps of a job.

  stepscope-agent import FILE|FOLDER... --job NAME --server URL [options]

Examples:
  stepscope-agent import trace.json.gz --job mlp-7 --server http://127.0.0.1:8080
  stepscope-agent import ./tensorboard_logs --job mlp-7 --server http://monitor:8080   # all ranks

Takes files of torch.profiler and other Chrome traces, plain or packed; of a folder, every file in
it that ends in .json, .json.gz or .json.zst. Files of several ranks that show the same steps
become one window, whatever their order. A job that does not exist is made, and ended when all
files are there. What was sent before is not stored twice. Ends with 0 when every file was taken,
else with 1.
)";

constexpr Option kImportOptions[] = {
    {"--job", "NAME", "", "the job that the traces are of", true, OptionSource::kCommandLineOnly},
    {"--rank", "N", "", "the rank of a single file, when the file does not say it", false,
     OptionSource::kCommandLineOnly},
};

constexpr int kMostTries = 60;            // while the service is busy
constexpr Duration kRequestLimit = 5min;  // and longer for large files:
constexpr std::uint64_t kLeastBytesPerSecond = 1'000'000;
constexpr char kOctets[] = "application/octet-stream", kJsonType[] = "application/json";

struct ImportFigures {
  std::size_t files = 0, taken = 0, known = 0;
  std::int64_t spans = 0;
  std::uint64_t bytes = 0, done_bytes = 0;
};

Json AnswerJson(const HttpAnswer& answer) {
  const auto json = ParseJson(answer.body, {.bytes = 4 * 1024 * 1024, .values = 1'000'000});
  return json && json->is_object() ? *json : Json::object();
}

std::string Detail(const HttpAnswer& answer) {
  const Json problem = AnswerJson(answer);
  const auto detail = problem.find("detail");
  if (detail != problem.end() && detail->is_string()) return Printable(detail->get<std::string>());
  return Format("HTTP status {}", answer.status);
}

// Sends files of one job, one after the other.
class Importer {
 public:
  Importer(Uplink& uplink, std::string job, std::string rank, const Clock& clock)
      : uplink_(uplink), job_(std::move(job)), rank_(std::move(rank)), clock_(clock) {}

  ImportFigures Import(const std::vector<TraceFile>& files) {
    figures_.files = files.size();
    for (const TraceFile& file : files) figures_.bytes += file.bytes;
    const SteadyTime began = clock_.Steady();
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::string outcome = ImportOne(files[i]);
      figures_.done_bytes += files[i].bytes;
      PrintText(Format("{} of {}: {}: {}{}\n", i + 1, files.size(), Printable(files[i].name),
                       outcome, i + 1 < files.size() ? LeftText(clock_.Steady() - began) : ""));
    }
    if (made_) End();
    return figures_;
  }

 private:
  // Nobody else would: no agent runs a job that was made here. It takes further files all the same.
  void End() {
    const auto ended =
        uplink_.PostTo(Format("/api/v1/jobs/{}/stop", job_), kJsonType, Dump(Json::object()));
    if (ended && ended->status / 100 == 2) return;
    PrintText(
        Format("job {} is not ended: {}\n", job_, ended ? Detail(*ended) : ended.error().message));
  }

  std::string ImportOne(const TraceFile& file) {
    const auto body = PackTraceFile(file.path, kMostTraceFile);
    if (!body) return "not taken: " + body.error().message;
    const auto answer = Send(file, *body);
    if (!answer) return "not taken: " + answer.error().message;
    if (answer->status != 200 && answer->status != 201) return "not taken: " + Detail(*answer);
    return Taken(*answer, file.name);
  }

  Result<HttpAnswer> Send(const TraceFile& file, const PackedTrace& body) {
    std::string path =
        Format("/api/v1/jobs/{}/traces?file={}", job_, QueryEncoded(file.name.substr(0, 255)));
    if (first_window_ > 0) path += Format("&from_window={}", first_window_);
    if (!rank_.empty()) path += "&rank=" + rank_;
    for (int tries = 1;; ++tries) {
      auto answer = uplink_.PostBody(
          path, kOctets,
          [&body](std::uint64_t at, std::span<char> into) {
            const ssize_t got = pread(body.file.get(), into.data(), into.size(), off_t(at));
            return static_cast<std::size_t>(std::max<ssize_t>(got, 0));
          },
          body.bytes);
      if (!answer) return answer;
      if (answer->status == 404 && !tried_ && Detail(*answer).find("job") != std::string::npos) {
        tried_ = true;
        const auto made = uplink_.PostTo("/api/v1/jobs", kJsonType, Dump(Json{{"name", job_}}));
        if (!made || (made->status != 201 && made->status != 200)) return made;
        made_ = made->status == 201;
        continue;
      }
      const bool busy = answer->status == 429 || answer->status == 503;
      if (!busy || tries == kMostTries) return answer;
      SleepFor({}, std::max<Duration>(answer->RetryAfter(10s), 1s));
    }
  }

  // What the service says of a file that it has.
  std::string Taken(const HttpAnswer& answer, const std::string& name) {
    const Json window = AnswerJson(answer);
    const bool fresh = answer.status == 201;
    const std::string id = window.value("id", "?");
    const auto number = ParseInt(id, "window");
    if (number && (first_window_ == 0 || *number < first_window_)) first_window_ = *number;
    ++(fresh ? figures_.taken : figures_.known);
    std::string text = Format("window {}", id);
    for (const Json& trace : window.value("traces", Json::array())) {
      if (trace.value("file", Json()) != Json(name)) continue;
      text +=
          Format(", rank {}: {} spans, {} steps", trace.value("rank", 0),
                 trace.value("spans", std::int64_t{0}), trace.value("step_count", std::int64_t{0}));
      if (fresh) figures_.spans += trace.value("spans", std::int64_t{0});
      const Json faults = trace.value("faults", Json::object());
      for (const auto& [reason, count] : faults.items()) {
        text += Format(", {} {}", Printable(reason, 40), count.dump());
      }
      if (!trace.value("device_work", false)) text += ", no work of a GPU";
      break;
    }
    return fresh ? text : text + " (it was there before)";
  }

  std::string LeftText(Duration took) const {
    if (figures_.done_bytes == 0) return "";
    const double left = double(figures_.bytes - figures_.done_bytes) / double(figures_.done_bytes);
    return Format(" ({:.1f} of {:.1f} MB, about {:.0f} s left)", double(figures_.done_bytes) / 1e6,
                  double(figures_.bytes) / 1e6, ToSeconds(took) * left);
  }

  Uplink& uplink_;
  const std::string job_, rank_;
  const Clock& clock_;
  // The first window that these files are in. Which one a file belongs to only the service sees: by
  // its steps and times.
  std::int64_t first_window_ = 0;
  bool tried_ = false, made_ = false;  // to make the job; and it was made here
  ImportFigures figures_;
};

int Import(const Arguments& arguments, std::string_view) {
  auto options = ReadUplink(arguments);
  if (!options) return ReportUsageError(options.error().message);
  const std::string job = arguments["--job"];
  if (Status name = CheckJobName(job); !name) return ReportUsageError(name.error().message);
  if (arguments.rest.empty()) return ReportUsageError("name a trace file or a folder with some");
  auto files = FindTraceFiles(arguments.rest);
  if (!files) return ReportUsageError(files.error().message);
  std::erase_if(*files, [](const TraceFile& file) {
    if (file.left_out.empty()) return false;
    PrintText(Format("{}: left out: {}\n", Printable(file.name), file.left_out));
    return true;
  });
  if (files->empty()) return ReportUsageError("there is no trace in what was named");
  const auto largest = std::ranges::max_element(*files, {}, &TraceFile::bytes);
  options->request_limit =
      kRequestLimit +
      std::chrono::seconds(std::min(largest->bytes, kMostTraceFile) / kLeastBytesPerSecond);
  const std::string rank = arguments["--rank"];
  if (!rank.empty() && (files->size() != 1 || !ParseInt(rank, "--rank"))) {
    return ReportUsageError("--rank: a number, for a single file");
  }
  auto uplink = Uplink::Make(*options);
  if (!uplink) return ReportUsageError(uplink.error().message);
  signal(SIGPIPE, SIG_IGN);
  const SystemClock clock;
  const ImportFigures figures = Importer(**uplink, job, rank, clock).Import(*files);
  PrintText(Format("{} of {} files taken, {} were there before, {} spans: {}\n", figures.taken,
                   figures.files, figures.known, figures.spans, (*uplink)->PageOf(job)));
  return figures.taken + figures.known == figures.files ? 0 : kFailed;
}

}  // namespace

AgentCommand ImportRow() {
  return {.name = "import",
          .sentence = "sends trace files of a profiler: what happened inside of steps",
          .help = kImportHelp,
          .options = JoinRows({kImportOptions, UplinkRows()}),
          .run = Import,
          .positional = true};
}

}  // namespace stepscope
