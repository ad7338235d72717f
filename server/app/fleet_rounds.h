#pragma once

#include <stop_token>
#include <string>

#include "core/base/clock.h"
#include "core/base/worker.h"
#include "server/front/pressure.h"
#include "server/report/fleet/fleet_table.h"

namespace stepscope {

// Sums up jobs to hours of GPUs, and sends the message of each week, on a thread of its own. Leaves
// a round out while the service is short of something.
class FleetRounds {
 public:
  FleetRounds(Database& database, const Clock& clock, const PressureGauge& gauge,
              std::string public_url);

  FleetTable& fleet() { return fleet_; }

 private:
  void Round();

  Database& database_;
  const Clock& clock_;
  const PressureGauge& gauge_;
  const std::string public_url_;
  FleetTable fleet_;
  Worker worker_;
};

}  // namespace stepscope
