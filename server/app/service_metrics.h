#pragma once

#include <string>

#include "server/alert/outbox.h"
#include "server/compact/compactor.h"
#include "server/compact/retention.h"
#include "server/edge/edge.h"
#include "server/evaluate/evaluator.h"
#include "server/front/front.h"
#include "server/front/pressure.h"
#include "server/store/ticks/block_cache.h"

namespace stepscope {

// The parts whose figures /metrics shows beside those of ingest and database.
struct MeasuredParts {
  const Front& front;
  const Edge& edge;
  const PressureGauge& pressure;
  std::uint64_t ballast_bytes;
  const Evaluator& evaluator;
  const Compactor& compactor;
  const Retention& retention;
  const Outbox& outbox;
  const BlockCache& blocks;
};

// The figures in the text format of Prometheus.
std::string ServiceMetrics(const MeasuredParts& parts);

}  // namespace stepscope
