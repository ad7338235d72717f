#include "server/report/fleet/fleet.h"

#include <algorithm>
#include <array>

#include "server/report/fleet/fleet_filter.h"
#include "server/report/fleet/fleet_sums.h"

namespace stepscope {
namespace {

// The order of rows: what lost most, then what held most.
struct Ranked {
  double lost = 0, held = 0;
  std::size_t place = 0;
};
bool IsBefore(const Ranked& one, const Ranked& other) {
  if (one.lost != other.lost) return one.lost > other.lost;
  return one.held != other.held ? one.held > other.held : one.place < other.place;
}

void CutTo(std::vector<Ranked>& ranked, std::size_t most) {
  const auto end = ranked.begin() + static_cast<std::ptrdiff_t>(std::min(most, ranked.size()));
  std::ranges::partial_sort(ranked, end, IsBefore);
  ranked.erase(end, ranked.end());
}

// One pass over the jobs.
class FleetFold {
 public:
  FleetFold(const FleetJobs& jobs, const FleetQuestion& question)
      : jobs_(jobs),
        question_(question),
        filter_(jobs, question),
        keys_(question.by == FleetBy::kCause ? kCauses : jobs.texts.size()) {
    for (int week = question.weeks; week > 0; --week) {
      const std::int64_t to_us = question.to_us - (week - 1) * kWeekUs;
      fleet_.weeks.push_back({to_us - kWeekUs, to_us, {}});
    }
  }

  void Add(std::size_t place) {
    const FleetJob& job = jobs_.jobs[place];
    if (job.from_us == 0 || !filter_.Has(job)) return;
    const double gpus = filter_.PartOf(job);
    if (gpus <= 0) return;
    AddWeeks(job, gpus);
    const double part = gpus * PartWithin(job, question_.from_us, question_.to_us);
    if (part <= 0) return;
    const FleetSums sums = SumsOf(job, part);
    fleet_.total.Add(sums);
    if (question_.by != FleetBy::kJob) AddToKeys(job, sums, part / gpus);
    if (const auto first = sums.FirstCause()) {
      ++fleet_.jobs_by_cause[static_cast<std::size_t>(*first)];
    }
    counted_.push_back({sums.Lost(), sums.held, place});
  }

  Fleet Take() {
    TakeRows();
    std::vector<Ranked> jobs = counted_;
    CutTo(jobs, question_.jobs);
    for (const Ranked& each : jobs) fleet_.jobs.push_back(LossOf(jobs_.jobs[each.place]));
    fleet_.left_out = jobs_.left_out;
    return std::move(fleet_);
  }

 private:
  void AddWeeks(const FleetJob& job, double gpus) {
    for (FleetWeek& week : fleet_.weeks) {
      const double part = PartWithin(job, week.from_us, week.to_us);
      if (part > 0) week.sums.Add(SumsOf(job, gpus * part));
    }
  }
  // `within` is the part of the job's time in the span: a row for a node gets that of its GPUs.
  void AddToKeys(const FleetJob& job, const FleetSums& sums, double within) {
    ForEachKey(job, question_.by, [&](std::size_t key, double part) {
      const bool parted = question_.by == FleetBy::kNode && !job.nodes.empty();
      if (parted && filter_.node && *filter_.node != key) return;
      keys_[key].Add(parted ? SumsOf(job, within * part) : sums);
    });
  }
  FleetSums SumsWithin(const FleetJob& job) const {
    return SumsOf(job, filter_.PartOf(job) * PartWithin(job, question_.from_us, question_.to_us));
  }
  FleetLoss LossOf(const FleetJob& job) const {
    return {job.job_id,
            job.name,
            jobs_.texts[job.group],
            jobs_.texts[job.user],
            jobs_.texts[job.account],
            jobs_.texts[job.gpu],
            job.gpus,
            "",
            SumsWithin(job)};
  }
  std::string NameOf(std::size_t key) const {
    if (question_.by != FleetBy::kCause) return jobs_.texts[key];
    const auto cause = static_cast<Cause>(key);
    return cause == Cause::kBusy ? "" : std::string(TextOf(cause).name);
  }
  void TakeRows() {
    const bool by_job = question_.by == FleetBy::kJob;
    std::vector<Ranked> ranked = by_job ? counted_ : std::vector<Ranked>();
    for (std::size_t i = 0; !by_job && i < keys_.size(); ++i) {
      if (keys_[i].jobs > 0) ranked.push_back({keys_[i].Lost(), keys_[i].held, i});
    }
    fleet_.rows_total = static_cast<std::int64_t>(ranked.size());
    CutTo(ranked, question_.rows);
    for (const Ranked& each : ranked) {
      if (!by_job) fleet_.rows.push_back({NameOf(each.place), 0, keys_[each.place]});
      if (!by_job) continue;
      const FleetJob& job = jobs_.jobs[each.place];
      fleet_.rows.push_back({job.name, job.job_id, SumsWithin(job)});
    }
    TakeGrid(ranked);
  }
  void TakeGrid(const std::vector<Ranked>& ranked) {
    GridFold grid(question_.from_us, question_.to_us);
    for (std::size_t i = 0; i < std::min(question_.grid_rows, ranked.size()); ++i) {
      grid.AddRow(ranked[i].place, fleet_.rows[i].key);
    }
    if (grid.empty()) return;
    for (const Ranked& each : counted_) {
      const FleetJob& job = jobs_.jobs[each.place];
      const double gpus = filter_.PartOf(job);
      if (question_.by == FleetBy::kJob) grid.Add(each.place, job, gpus);
      if (question_.by == FleetBy::kJob) continue;
      ForEachKey(job, question_.by, [&](std::size_t key, double part) {
        grid.Add(key, job, question_.by == FleetBy::kNode && !job.nodes.empty() ? part : gpus);
      });
    }
    fleet_.grid = std::move(grid).Take();
  }

  const FleetJobs& jobs_;
  const FleetQuestion& question_;
  const FleetFilter filter_;
  std::vector<FleetSums> keys_;  // by place of the text, or by cause
  std::vector<Ranked> counted_;  // jobs, by place
  Fleet fleet_;
};

}  // namespace

Fleet SumFleet(const FleetJobs& jobs, const FleetQuestion& question) {
  FleetFold fold(jobs, question);
  for (std::size_t place = 0; place < jobs.jobs.size(); ++place) fold.Add(place);
  return fold.Take();
}

}  // namespace stepscope
