#include "server/app/fleet_rounds.h"

#include <utility>

#include "core/base/log.h"
#include "server/report/fleet/sum_job.h"
#include "server/report/fleet/weekly.h"

namespace stepscope {
namespace {

constexpr Duration kRoundEvery = 15s;
// After an update of the service all jobs are to be summed up: that takes several rounds.
constexpr Duration kLongestRound = 10s;

}  // namespace

FleetRounds::FleetRounds(Database& database, const Clock& clock, const PressureGauge& gauge,
                         std::string public_url)
    : database_(database),
      clock_(clock),
      gauge_(gauge),
      public_url_(std::move(public_url)),
      fleet_(clock),
      worker_("fleet", [this](const std::stop_token& stop) {
        while (SleepFor(stop, kRoundEvery)) Round();
      }) {}

void FleetRounds::Round() {
  if (gauge_.judgement().shortage != Shortage::kNone) return;
  Result<Database::Lease> lease = database_.Acquire();
  if (!lease) return LogWarning("fleet: {}", lease.error().message);
  const Time now = clock_.Now();
  const Result<int> summed = SumJobs(**lease, clock_, now + kLongestRound);
  if (!summed) return LogWarning("fleet: {}", summed.error().message);
  // The first reader of the page then does not wait for the rows of all jobs.
  if (const Status read = fleet_.Refresh(**lease); !read) {
    return LogWarning("fleet: {}", read.error().message);
  }
  const Result<int> told = TellWeek(**lease, fleet_, ToMicros(now), public_url_);
  if (!told) LogWarning("fleet: {}", told.error().message);
  if (told && *told > 0) LogInfo("{} webhooks are told of the fleet's week", *told);
}

}  // namespace stepscope
