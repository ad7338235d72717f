#include "server/report/fleet/fleet_sums.h"

#include <algorithm>

#include "core/base/time.h"

namespace stepscope {
namespace {

constexpr double kHourSeconds = 3600;
constexpr Duration kSlotLengths[] = {1min, 5min, 15min, 1h,   3h,    6h,   12h,
                                     24h,  72h,  168h,  672h, 2184h, 8736h};
constexpr std::int64_t kMostSlots = 31;

// The shortest length of which at most kMostSlots are needed; a span of ages is cut into as many.
std::int64_t SlotLength(std::int64_t span_us) {
  for (const Duration length : kSlotLengths) {
    const std::int64_t slot_us =
        std::chrono::duration_cast<std::chrono::microseconds>(length).count();
    if (slot_us * kMostSlots >= span_us) return slot_us;
  }
  return span_us / kMostSlots + 1;
}

double HeldSeconds(const FleetJob& job) {
  return static_cast<double>(job.to_us - job.from_us) / 1e6 * job.gpus;
}

}  // namespace

double PartWithin(const FleetJob& job, std::int64_t from_us, std::int64_t to_us) {
  const std::int64_t lasted = job.to_us - job.from_us;
  if (lasted <= 0) return job.from_us >= from_us && job.from_us < to_us ? 1 : 0;
  const std::int64_t within = std::min(job.to_us, to_us) - std::max(job.from_us, from_us);
  return within <= 0 ? 0 : static_cast<double>(within) / static_cast<double>(lasted);
}

FleetSums SumsOf(const FleetJob& job, double part) {
  FleetSums sums;
  sums.jobs = 1;
  sums.running = job.ended ? 0 : 1;
  sums.with_issues = job.issues > 0 ? 1 : 0;
  sums.without_gpus = job.gpus == 0 ? 1 : 0;
  sums.judged_jobs = job.has_verdict ? 1 : 0;
  sums.held = HeldSeconds(job) * part;
  if (job.judged) {
    sums.busy = job.busy_seconds * part;
    sums.judged = sums.busy;
    for (std::size_t i = 1; i < kCauses; ++i) {
      sums.lost.seconds[i] = static_cast<double>(job.lost[i]) * part;
      sums.judged += sums.lost.seconds[i];
    }
    // GPUs that nobody counted, or a last tick that reaches over the end of the job.
    sums.held = std::max(sums.held, sums.judged);
  }
  if (job.price > 0) {
    sums.priced = sums.held;
    sums.cost = sums.held / kHourSeconds * static_cast<double>(job.price);
    sums.lost_cost = sums.Lost() / kHourSeconds * static_cast<double>(job.price);
  }
  return sums;
}

Cause FirstCauseOf(const FleetJob& job) {
  if (!job.judged) return Cause::kBusy;
  const auto most = std::ranges::max_element(job.lost);
  return *most > 0 ? static_cast<Cause>(most - job.lost.begin()) : Cause::kBusy;
}

GridFold::GridFold(std::int64_t from_us, std::int64_t to_us) : from_us_(from_us), to_us_(to_us) {
  grid_.slot_us = SlotLength(to_us - from_us);
  slots_ = static_cast<std::size_t>((to_us - from_us + grid_.slot_us - 1) / grid_.slot_us);
}

void GridFold::AddRow(std::size_t key, const std::string& name) {
  if (row_of_.size() <= key) row_of_.resize(key + 1, -1);
  row_of_[key] = static_cast<int>(grid_.rows.size());
  const std::vector<double> none(slots_);
  grid_.rows.push_back({name, none, none, none});
}

void GridFold::Add(std::size_t key, const FleetJob& job, double part) {
  if (key >= row_of_.size() || row_of_[key] < 0) return;
  FleetGridRow& row = grid_.rows[static_cast<std::size_t>(row_of_[key])];
  const FleetSums sums = SumsOf(job, part);
  const std::int64_t from_us = std::max(job.from_us, from_us_), to_us = std::min(job.to_us, to_us_);
  auto slot = static_cast<std::size_t>((from_us - from_us_) / grid_.slot_us);
  for (; slot < slots_; ++slot) {
    const std::int64_t slot_from_us = from_us_ + static_cast<std::int64_t>(slot) * grid_.slot_us;
    if (slot_from_us > to_us) break;
    const double within =
        PartWithin(job, slot_from_us, std::min(slot_from_us + grid_.slot_us, to_us_));
    row.held[slot] += sums.held * within;
    row.judged[slot] += sums.judged * within;
    row.lost[slot] += sums.Lost() * within;
  }
}

void FleetSums::Add(const FleetSums& other) {
  jobs += other.jobs;
  running += other.running;
  with_issues += other.with_issues;
  without_gpus += other.without_gpus;
  judged_jobs += other.judged_jobs;
  held += other.held;
  judged += other.judged;
  busy += other.busy;
  lost.Add(other.lost);
  priced += other.priced;
  cost += other.cost;
  lost_cost += other.lost_cost;
}

std::optional<Cause> FleetSums::FirstCause() const {
  const auto most = std::ranges::max_element(lost.seconds);
  if (*most <= 0) return std::nullopt;
  return static_cast<Cause>(most - lost.seconds.begin());
}

}  // namespace stepscope
