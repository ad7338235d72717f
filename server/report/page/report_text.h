#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "server/store/postgres/database.h"

namespace stepscope {

struct ReportQuery {
  std::string job, public_url, version;
  std::int64_t now_us = 0;
};

enum class ReportForm { kHtml, kJson, kCard };

// The report of a job as a text: one HTML file, JSON, or its card. NotFound names the job.
Result<std::string> ReportText(Connection& connection, const ReportQuery& query, ReportForm form);

}  // namespace stepscope
