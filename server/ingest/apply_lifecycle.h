#pragma once

#include <cstdint>
#include <string>

#include "server/ingest/check/checked_push.h"
#include "server/ingest/push_events.h"
#include "server/store/jobs/jobs.h"

namespace stepscope {

// The node and job that a frame is from, and when it came.
struct ReportedBy {
  std::int64_t job_id = 0, node_id = 0;
  std::string session;
  std::string node;
  std::int64_t now_us = 0;  // the service's clock
  const std::string& public_url;
  PushEvents& events;  // events of the push, saved with it
};

// Applies a lifecycle frame: facts, ranks, events, and the end of the job with its last node.
Status ApplyLifecycle(Connection& connection, const ReportedBy& by, const Lifecycle& lifecycle);

// Applies what a table tells beyond its rows: the job's first sample, a rank that nobody announced.
// Updates `job`.
Status ApplyTable(Connection& connection, const ReportedBy& by, const TableFrame& table,
                  JobRow& job);

}  // namespace stepscope
