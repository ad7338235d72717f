#pragma once

#include <stop_token>
#include <string>

#include "agent/send/uplink.h"
#include "tests/scenarios/training.h"

namespace stepscope::scenarios {

struct PlayOptions {
  std::string job;
  double speed = 60;  // of data time beside the clock on the wall; 0: as fast as it goes
};

// Sends a job to a service, as the agents of its nodes would. Its last sample is of the moment in
// which the last push is sent, so its first lies in the past. Errors say why the service has not
// all of it; one that was stopped is told to the service as a command that was interrupted.
Status Play(const Training& training, const PlayOptions& options, Uplink& uplink,
            const std::stop_token& stop);

// Whether the service is there and takes what we are; the error is one sentence.
Status CheckService(Uplink& uplink, const std::string& server);

}  // namespace stepscope::scenarios
