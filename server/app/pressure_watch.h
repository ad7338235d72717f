#pragma once

#include <atomic>
#include <string>

#include "core/base/worker.h"
#include "server/edge/edge.h"
#include "server/front/pressure.h"
#include "server/ingest/ingest.h"

namespace stepscope {

// Measures twice a second everything that the service may run short of.
class PressureWatch {
 public:
  // `storage`: the folder whose free space counts; "" when the database is elsewhere.
  PressureWatch(const Ingest& ingest, const IngestOptions& ingest_bounds, std::string storage);

  // Watches from now on until Stop. Both arguments have to live as long.
  void Start(const Edge& edge, const EdgeOptions& bounds);
  void Stop();

  PressureGauge& gauge() { return gauge_; }

 private:
  Load Look() const;

  const Ingest& ingest_;
  const IngestOptions ingest_bounds_;
  const std::string storage_;
  const Edge* edge_ = nullptr;
  EdgeOptions bounds_;
  PressureGauge gauge_;
  Worker worker_;
};

}  // namespace stepscope
