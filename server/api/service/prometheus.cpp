// /metrics: metrics of the service itself.

#include "server/api/service/prometheus.h"

#include "core/base/text.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"

namespace stepscope {
namespace {

void AddIngest(const IngestFigures& figures, PrometheusText& out) {
  const auto count = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    out.Add(Format("stepscope_ingest_{}_total", name), "counter", help, double(value));
  };
  count("pushes", "Pushes stored.", figures.pushes);
  count("frames", "Frames stored.", figures.frames);
  count("samples", "Samples stored.", figures.samples);
  count("bytes", "Bytes of frames stored.", figures.bytes);
  count("duplicate_frames", "Frames that were stored before.", figures.duplicates);
  count("duplicate_rows",
        "Frames that the key of the table kept out and the cursor did not: 0, or there is a fault.",
        figures.duplicate_rows);
  count("rejected_frames", "Frames refused.", figures.rejected);
  count("lost_frames", "Frames that agents report as lost.", figures.lost);
  count("groups", "Transactions of ingest.", figures.groups);
  count("failed_groups", "Transactions of ingest that failed.", figures.groups_failed);
  out.Add("stepscope_ingest_commit_seconds_total", "counter", "Time in transactions of ingest.",
          ToSeconds(figures.commit_time));
  out.Add("stepscope_ingest_last_commit_seconds", "gauge", "Time of the last transaction.",
          ToSeconds(figures.last_commit));
  out.Add("stepscope_ingest_queue_length", "gauge", "Pushes that wait.",
          double(figures.queue_length));
  out.Add("stepscope_ingest_queue_bytes", "gauge", "Bytes of the pushes that wait.",
          double(figures.queue_bytes));
  out.Add("stepscope_ingest_queue_seconds", "gauge",
          "For how long the push has waited that came first.", ToSeconds(figures.queue_age));
}

// Metrics from the database. Absent while it is away.
void AddDatabase(const Api& api, PrometheusText& out) {
  Result<Database::Lease> lease = api.database.Acquire();
  const Result<Rows> rows =
      lease ? (*lease)->Query(
                  "select (select count(*) from jobs where status = 'InProgress'), "
                  "(select count(*) from rule_tasks where state <> 'done'), "
                  "(select count(*) from deliveries where state in ('ready', "
                  "'running')), pg_database_size(current_database())")
            : Result<Rows>(lease.error());
  out.Add("stepscope_database_up", "gauge", "Whether the database answers.", rows.ok() ? 1 : 0);
  if (!rows) return;
  out.Add("stepscope_jobs_in_progress", "gauge", "Jobs that run.", double(rows->Int(0, 0)));
  out.Add("stepscope_rule_tasks_open", "gauge", "Rules of jobs still to be judged.",
          double(rows->Int(0, 1)));
  out.Add("stepscope_deliveries_waiting", "gauge", "Webhook messages that wait.",
          double(rows->Int(0, 2)));
  out.Add("stepscope_database_bytes", "gauge", "Size of the database.", double(rows->Int(0, 3)));
}

Reply AnswerMetrics(const Api& api, const Request& request) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);

  PrometheusText out;
  out.Describe("stepscope_info", "gauge", "The version that runs.");
  out.Sample("stepscope_info", Format("version=\"{}\"", api.version), 1);
  AddIngest(api.ingest.figures(), out);
  AddDatabase(api, out);

  return {.status = 200,
          .content_type = "text/plain; version=0.0.4; charset=utf-8",
          .body = out.text() + api.further_metrics(),
          .headers = {}};
}

}  // namespace

void PrometheusText::Describe(std::string_view name, std::string_view type, std::string_view help) {
  text_ += Format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

void PrometheusText::Sample(std::string_view name, std::string_view labels, double value) {
  text_ += labels.empty() ? Format("{} {}\n", name, value)
                          : Format("{}{{{}}} {}\n", name, labels, value);
}

void PrometheusText::Add(std::string_view name, std::string_view type, std::string_view help,
                         double value) {
  Describe(name, type, help);
  Sample(name, "", value);
}

std::vector<Route> PrometheusRoutes(const Api& api) {
  return {{.method = "GET",
           .pattern = "/metrics",
           .handler = [&api](const Request& request,
                             const PathParameters&) { return AnswerMetrics(api, request); },
           .right = Right::kObserve}};
}

}  // namespace stepscope
