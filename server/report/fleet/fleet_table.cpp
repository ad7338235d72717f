#include "server/report/fleet/fleet_table.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace stepscope {
namespace {

constexpr Duration kFreshFor = 2s;
// Rows are written in the order of this service's clock or of another one's, and committed later.
constexpr std::int64_t kOverlapUs = 60'000'000;
constexpr int kRowsAtOnce = 20'000;

std::uint32_t PlaceOf(FleetJobs& jobs, const std::string& text) {
  const auto [found, is_new] =
      jobs.places.try_emplace(text, static_cast<std::uint32_t>(jobs.texts.size()));
  if (is_new) jobs.texts.push_back(text);
  return found->second;
}

std::size_t CauseOf(std::string_view name) {
  for (std::size_t i = 1; i < kCauses; ++i) {
    if (TextOf(static_cast<Cause>(i)).name == name) return i;
  }
  return static_cast<std::size_t>(Cause::kUnknown);
}

}  // namespace

void FleetJobs::Put(const JobHours& hours) {
  const auto [found, is_new] = by_id.try_emplace(hours.job_id, jobs.size());
  if (is_new) jobs.emplace_back();
  FleetJob job;
  job.job_id = hours.job_id;
  job.name = hours.name;
  job.group = PlaceOf(*this, hours.group);
  job.user = PlaceOf(*this, hours.user);
  job.account = PlaceOf(*this, hours.account);
  job.gpu = PlaceOf(*this, hours.gpu);
  job.gpus = static_cast<std::int32_t>(hours.gpus);
  job.issues = static_cast<std::int32_t>(hours.issues);
  job.from_us = hours.from_us.value_or(0);
  job.to_us = hours.to_us.value_or(job.from_us);
  job.ended = hours.ended;
  job.judged = hours.judged_seconds.has_value();
  job.has_verdict = hours.verdict != "unknown";
  job.price = static_cast<float>(hours.price);
  job.busy_seconds = hours.busy_seconds;
  for (const auto& [cause, seconds] : hours.lost_seconds) {
    job.lost[CauseOf(cause)] += static_cast<float>(seconds);
  }
  for (const auto& [node, gpus] : hours.node_gpus) {
    if (hours.gpus > 0 && gpus == 0) continue;
    const double part = hours.gpus > 0 ? static_cast<double>(gpus) / static_cast<double>(hours.gpus)
                                       : 1.0 / static_cast<double>(hours.node_gpus.size());
    job.nodes.push_back({PlaceOf(*this, node), static_cast<float>(std::min(part, 1.0))});
  }
  newest_us = std::max(newest_us, hours.written_us);
  jobs[found->second] = std::move(job);
}

Status FleetTable::Refresh(Connection& connection) {
  const SteadyTime now = clock_.Steady();
  // While one caller reads, others use what is there.
  const auto turn = state_.Change([&](State& state) -> std::optional<State> {
    if (state.loaded && now < state.fresh_until) return std::nullopt;
    state.fresh_until = now + kFreshFor;
    return state;
  });
  if (!turn) return {};
  if (turn->loaded) {
    const Result<std::int64_t> surplus = ReadNewest(connection);
    if (!surplus) return surplus.error();
    // A row that is missing was written just now, unless it is missing once more.
    const bool behind = *surplus < 0;
    state_.Change([&](State& state) { state.behind = behind; });
    if (*surplus == 0 || (behind && !turn->behind)) return {};
  }
  if (const Status read = ReadAll(connection); !read) return read;
  state_.Change([](State& state) {
    state.loaded = true;
    state.behind = false;
  });
  return {};
}

// Reads the rows that were written since, and returns how many jobs are here that are not stored.
Result<std::int64_t> FleetTable::ReadNewest(Connection& connection) {
  const std::int64_t since_us =
      jobs_.Read([](const FleetJobs& jobs) { return jobs.newest_us; }) - kOverlapUs;
  std::int64_t below = std::numeric_limits<std::int64_t>::max();
  while (true) {
    const auto rows = ReadJobHours(connection, since_us, below, kRowsAtOnce);
    if (!rows.ok()) return rows.error();
    jobs_.Change([&](FleetJobs& jobs) {
      for (const JobHours& hours : *rows) jobs.Put(hours);
    });
    if (std::cmp_less(rows->size(), kRowsAtOnce)) break;
    below = rows->back().job_id;
  }
  const Result<std::int64_t> count = CountJobHours(connection);
  if (!count) return count.error();
  return jobs_.Read([&](const FleetJobs& jobs) {
    const auto size = static_cast<std::int64_t>(jobs.jobs.size());
    return size > most_ + most_ / 10 ? size : size + jobs.left_out - *count;
  });
}

Status FleetTable::ReadAll(Connection& connection) {
  const Result<std::int64_t> count = CountJobHours(connection);
  if (!count) return count.error();
  FleetJobs all;
  std::int64_t below = std::numeric_limits<std::int64_t>::max();
  while (std::cmp_less(all.jobs.size(), most_)) {
    const auto rows = ReadJobHours(connection, 0, below, kRowsAtOnce);
    if (!rows.ok()) return rows.error();
    for (const JobHours& hours : *rows) {
      if (std::cmp_less(all.jobs.size(), most_)) all.Put(hours);
    }
    if (std::cmp_less(rows->size(), kRowsAtOnce)) break;
    below = rows->back().job_id;
  }
  all.left_out = std::max<std::int64_t>(*count - static_cast<std::int64_t>(all.jobs.size()), 0);
  jobs_.Change([&](FleetJobs& jobs) { jobs = std::move(all); });
  return {};
}

}  // namespace stepscope
