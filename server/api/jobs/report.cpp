// GET /jobs/{name}/report, /report.html and /card: the report of a job, on one page, in a few
// lines.

#include "server/report/page/report.h"

#include "core/base/text.h"
#include "core/model/names.h"
#include "server/api/http/answer.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/report/page/card.h"
#include "server/report/page/report_html.h"

namespace stepscope {
namespace {

Result<Report> Gather(const Api& api, Connection& connection, const PathParameters& path) {
  const std::string& name = path.at("name");
  if (const Status good = CheckJobName(name); !good) return good.error();
  return GatherReport(connection, {name, api.public_url, api.version, ToMicros(api.clock.Now())});
}

Result<Reply> ReadReport(const Api& api, Connection& connection, const Request& request,
                         const PathParameters& path) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);
  const Result<Report> report = Gather(api, connection, path);
  if (!report) return report.error();
  return JobReply(report->job, ToJson(*report));
}

// The page has names from outside: should one of them ever get through as markup, the browser runs
// nothing, and nothing in the page is of this origin.
Result<Reply> ReadReportPage(const Api& api, Connection& connection, const Request& request,
                             const PathParameters& path) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);
  const Result<Report> report = Gather(api, connection, path);
  if (!report) return report.error();
  Reply reply = JobReply(report->job, ToHtml(*report));
  reply.content_type = "text/html; charset=utf-8";
  reply.headers.emplace_back("Content-Security-Policy",
                             Format("{}; frame-ancestors 'none'; sandbox", kReportPolicy));
  return reply;
}

Result<Reply> ReadCard(const Api& api, Connection& connection, const Request& request,
                       const PathParameters& path) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);
  const Result<Report> report = Gather(api, connection, path);
  if (!report) return report.error();
  Reply reply = JobReply(report->job, ToCard(*report));
  reply.content_type = "text/plain; charset=utf-8";
  return reply;
}

}  // namespace

std::vector<Route> ReportRoutes(const Api& api) {
  constexpr std::string_view kReport = "/api/v1/jobs/{name}/report";
  constexpr std::string_view kPage = "/api/v1/jobs/{name}/report.html";
  return {Bulk(ForDatabase(api, Right::kRead, "GET", kReport, ReadReport)),
          Bulk(ForDatabase(api, Right::kRead, "GET", kPage, ReadReportPage)),
          Bulk(ForDatabase(api, Right::kRead, "GET", "/api/v1/jobs/{name}/card", ReadCard))};
}

}  // namespace stepscope
