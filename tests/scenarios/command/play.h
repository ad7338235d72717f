#pragma once

#include <stop_token>
#include <string>

#include "agent/send/uplink.h"
#include "tests/scenarios/training.h"

namespace stepscope::scenarios {

struct PlayOptions {
  std::string job;
  double speed = 60;  // data time per wall-clock time; 0: as fast as possible
};

// Sends a job to a service, as the agents of its nodes would. Its last sample has the time at which
// the last push is sent, so its first lies in the past. An error says why the service has not
// received all of it. A job that is stopped is reported to the service as an interrupted command.
Status Play(const Training& training, const PlayOptions& options, Uplink& uplink,
            const std::stop_token& stop);

// Whether the service answers and accepts our token; the error is one sentence.
Status CheckService(Uplink& uplink, const std::string& server);

}  // namespace stepscope::scenarios
