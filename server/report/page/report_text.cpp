#include "server/report/page/report_text.h"

#include "server/report/page/card.h"
#include "server/report/page/report_html.h"

namespace stepscope {

Result<std::string> ReportText(Connection& connection, const ReportQuery& query, ReportForm form) {
  const Result<Report> report = GatherReport(connection, query);
  if (!report) return report.error();
  switch (form) {
    case ReportForm::kCard:
      return ToCard(*report);
    case ReportForm::kJson:
      return Dump(ToJson(*report)) + "\n";
    case ReportForm::kHtml:
      break;
  }
  return ToHtml(*report);
}

}  // namespace stepscope
