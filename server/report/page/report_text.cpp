#include "server/report/page/report_text.h"

#include "server/report/page/report_html.h"

namespace stepscope {

Result<std::string> ReportText(Connection& connection, const ReportQuery& query, bool json) {
  const Result<Report> report = GatherReport(connection, query);
  if (!report) return report.error();
  return json ? Dump(ToJson(*report)) + "\n" : ToHtml(*report);
}

}  // namespace stepscope
