#include "server/app/pressure_watch.h"

#include <algorithm>

#include "core/base/log.h"
#include "server/app/memory.h"
#include "server/postgres/ballast.h"

namespace stepscope {
namespace {

constexpr Duration kEvery = 500ms;
constexpr int kTurnsOfMemory = 60;  // 30 s

double ShareOf(double used, std::size_t most) {
  return most == 0 ? 0 : used / static_cast<double>(most);
}

// A folder that cannot be read is reported by /readyz; it is no reason to refuse anybody.
void LookAtFolder(const std::string& folder, Load& load) {
  if (folder.empty()) return;
  const Result<Storage> storage = LookAtStorage(folder);
  load.storage_low = (storage && storage->low()) || IsBallastSpent(folder);
  load.storage_nearly_full = storage && storage->nearly_full();
}

void Tell(Judgement before, Judgement now) {
  if (before.pressure == now.pressure) return;
  switch (now.pressure) {
    case Pressure::kNone:
      return LogInfo("pressure is over; everybody is answered again");
    case Pressure::kBulk:
      return LogWarning("short of {}: bulk readers are refused", ToText(now.shortage));
    case Pressure::kFrames:
      return LogWarning("short of {}: frames are refused, agents keep them", ToText(now.shortage));
    case Pressure::kChanges:
      return LogWarning("short of {}: nothing is written but what frees it", ToText(now.shortage));
  }
}

}  // namespace

PressureWatch::PressureWatch(const Ingest& ingest, const IngestOptions& ingest_bounds,
                             std::string storage)
    : ingest_(ingest),
      ingest_bounds_(ingest_bounds),
      storage_(std::move(storage)),
      gauge_([this] { return Look(); }) {}

void PressureWatch::Start(const Edge& edge, const EdgeOptions& bounds) {
  edge_ = &edge;
  bounds_ = bounds;
  gauge_.Update();  // before the first request comes
  worker_ = Worker("pressure", [this](const std::stop_token& stop) {
    int turns = 0;
    do {
      const Judgement before = gauge_.judgement();
      gauge_.Update();
      Tell(before, gauge_.judgement());
      if (++turns % kTurnsOfMemory == 0) ReturnFreedMemory();
    } while (SleepFor(stop, kEvery));
  });
}

void PressureWatch::Stop() {
  worker_ = Worker();
}

Load PressureWatch::Look() const {
  const EdgeFigures edge = edge_ ? edge_->figures() : EdgeFigures{};
  const IngestFigures ingest = ingest_.figures();
  const double requests = ShareOf(double(edge.queued), bounds_.most_queued);
  // The number of waiting pushes says little, because a group takes hundreds; their age counts.
  const double wait = ToSeconds(ingest.shared_age) / ToSeconds(ingest_bounds_.queue_age);
  const double bodies = ShareOf(double(edge.body_bytes), bounds_.most_body_bytes);
  const double pushes = ShareOf(double(ingest.queue_bytes), ingest_bounds_.queue_bytes);
  Load load{.queue = requests,
            .wait = wait,
            .bodies = std::max(bodies, pushes),
            .connections = ShareOf(double(edge.open()), bounds_.most_connections),
            .commit_p95 = ingest.commit_p95};
  LookAtFolder(storage_, load);
  return load;
}

}  // namespace stepscope
