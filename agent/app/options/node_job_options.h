#pragma once

#include <string>

#include "agent/app/options/allowed.h"
#include "agent/app/options/common_options.h"
#include "agent/send/uplink.h"
#include "core/base/time.h"

namespace stepscope {

class SpoolFolder;
class StreamCount;
class TraceTurns;

// Options that all jobs of a node share.
struct NodeJobOptions {
  std::string node{};
  UplinkOptions uplink{};
  SamplingOptions sampling{};
  Duration push = 2s;
  Allowed allowed{};
  SecretOptions secrets{};
  Duration end_after = 30s;  // after its last process has gone
  std::string agent_version{};
  SpoolFolder* spool = nullptr;    // where frames wait on disk; null: in memory
  StreamCount* streams = nullptr;  // jobs that share the memory of frames
  TraceTurns* traces = nullptr;    // whose turn it is to pack a trace; null: one job has them all
};

}  // namespace stepscope
