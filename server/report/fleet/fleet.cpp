#include "server/report/fleet/fleet.h"

#include <algorithm>
#include <array>

#include "server/store/jobs/scope_patterns.h"

namespace stepscope {
namespace {

constexpr double kHourSeconds = 3600;

// The part of the job's time that lies within a span; of a job that lasted no time, all or nothing.
double PartWithin(const FleetJob& job, std::int64_t from_us, std::int64_t to_us) {
  const std::int64_t lasted = job.to_us - job.from_us;
  if (lasted <= 0) return job.from_us >= from_us && job.from_us < to_us ? 1 : 0;
  const std::int64_t within = std::min(job.to_us, to_us) - std::max(job.from_us, from_us);
  return within <= 0 ? 0 : static_cast<double>(within) / static_cast<double>(lasted);
}

double HeldSeconds(const FleetJob& job) {
  return static_cast<double>(job.to_us - job.from_us) / 1e6 * job.gpus;
}

// The job's sums, as far as `part` of its time goes.
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

// Which jobs count: places of texts are compared, not texts. A text that no job has is nowhere.
struct Wanted {
  const FleetQuestion& question;
  std::optional<std::uint32_t> user, account, group, gpu;
  bool none = false;

  Wanted(const FleetJobs& jobs, const FleetQuestion& of) : question(of) {
    const auto place = [&](const std::optional<std::string>& text,
                           std::optional<std::uint32_t>& at) {
      if (!text) return;
      const auto found = jobs.places.find(*text);
      if (found == jobs.places.end()) none = true;
      if (found != jobs.places.end()) at = found->second;
    };
    place(of.user, user);
    place(of.account, account);
    place(of.group, group);
    place(of.gpu, gpu);
  }
  bool Has(const FleetJob& job) const {
    const auto fits = [](const std::optional<std::uint32_t>& wanted, std::uint32_t is) {
      return !wanted || *wanted == is;
    };
    return !none && fits(user, job.user) && fits(account, job.account) && fits(group, job.group) &&
           fits(gpu, job.gpu) && (question.scopes.empty() || IsWithin(question.scopes, job.name));
  }
};

std::uint32_t KeyOf(const FleetJob& job, FleetBy by) {
  switch (by) {
    case FleetBy::kUser:
      return job.user;
    case FleetBy::kAccount:
      return job.account;
    case FleetBy::kGroup:
      return job.group;
    case FleetBy::kGpu:
      return job.gpu;
    case FleetBy::kJob:
      break;
  }
  return 0;
}

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
      : jobs_(jobs), question_(question), wanted_(jobs, question), keys_(jobs.texts.size()) {
    for (int week = question.weeks; week > 0; --week) {
      const std::int64_t to_us = question.to_us - (week - 1) * kWeekUs;
      fleet_.weeks.push_back({to_us - kWeekUs, to_us, {}});
    }
  }

  void Add(std::size_t place) {
    const FleetJob& job = jobs_.jobs[place];
    if (job.from_us == 0 || !wanted_.Has(job)) return;
    AddWeeks(job);
    const double part = PartWithin(job, question_.from_us, question_.to_us);
    if (part <= 0) return;
    const FleetSums sums = SumsOf(job, part);
    fleet_.total.Add(sums);
    if (question_.by != FleetBy::kJob) keys_[KeyOf(job, question_.by)].Add(sums);
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
  void AddWeeks(const FleetJob& job) {
    for (FleetWeek& week : fleet_.weeks) {
      const double part = PartWithin(job, week.from_us, week.to_us);
      if (part > 0) week.sums.Add(SumsOf(job, part));
    }
  }
  FleetSums SumsWithin(const FleetJob& job) const {
    return SumsOf(job, PartWithin(job, question_.from_us, question_.to_us));
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
  void TakeRows() {
    const bool by_job = question_.by == FleetBy::kJob;
    std::vector<Ranked> ranked = by_job ? counted_ : std::vector<Ranked>();
    for (std::size_t i = 0; !by_job && i < keys_.size(); ++i) {
      if (keys_[i].jobs > 0) ranked.push_back({keys_[i].Lost(), keys_[i].held, i});
    }
    fleet_.rows_total = static_cast<std::int64_t>(ranked.size());
    CutTo(ranked, question_.rows);
    for (const Ranked& each : ranked) {
      if (!by_job) fleet_.rows.push_back({jobs_.texts[each.place], 0, keys_[each.place]});
      if (!by_job) continue;
      const FleetJob& job = jobs_.jobs[each.place];
      fleet_.rows.push_back({job.name, job.job_id, SumsWithin(job)});
    }
  }

  const FleetJobs& jobs_;
  const FleetQuestion& question_;
  const Wanted wanted_;
  std::vector<FleetSums> keys_;  // by place of the text
  std::vector<Ranked> counted_;  // jobs, by place
  Fleet fleet_;
};

}  // namespace

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

Fleet SumFleet(const FleetJobs& jobs, const FleetQuestion& question) {
  FleetFold fold(jobs, question);
  for (std::size_t place = 0; place < jobs.jobs.size(); ++place) fold.Add(place);
  return fold.Take();
}

}  // namespace stepscope
