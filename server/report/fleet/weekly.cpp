#include "server/report/fleet/weekly.h"

#include "core/base/json_members.h"
#include "core/base/text.h"
#include "server/report/fleet/fleet_json.h"
#include "server/store/webhooks/weekly.h"

namespace stepscope {
namespace {

constexpr std::int64_t kHourUs = 3'600'000'000, kDayUs = 24 * kHourUs;
constexpr std::int64_t kFirstMondayUs = 4 * kDayUs;  // 5 January 1970
constexpr std::size_t kMostRows = 10;

}  // namespace

std::int64_t WeekEndUs(std::int64_t now_us) {
  const std::int64_t since_us = now_us - kHourUs - kFirstMondayUs;
  return since_us / kWeekUs * kWeekUs + kFirstMondayUs;
}

Result<int> TellWeek(Connection& connection, FleetTable& fleet, std::int64_t now_us,
                     const std::string& public_url) {
  FleetQuestion question;
  question.to_us = WeekEndUs(now_us);
  question.from_us = question.to_us - kWeekUs;
  question.rows = question.jobs = kMostRows;
  question.weeks = 0;
  const Result<bool> wanted = WantsWeek(connection, question.to_us);
  if (!wanted) return wanted.error();
  if (!*wanted) return 0;
  if (const Status fresh = fleet.Refresh(connection); !fresh) return fresh.error();
  const Fleet week = fleet.Read([&](const FleetJobs& jobs) { return SumFleet(jobs, question); });
  const std::string url =
      Format("{}/fleet?after={}&before={}", public_url, ToRfc3339(FromMicros(question.from_us)),
             ToRfc3339(FromMicros(question.to_us)));
  return EnqueueWeek(connection, question.to_us, WeeklyMessage(week, question, url), now_us);
}

}  // namespace stepscope
