#include "server/report/fleet/fleet_json.h"

#include <algorithm>

#include "core/base/json_members.h"
#include "core/base/time.h"

namespace stepscope {
namespace {

OrderedJson Hours(double seconds) {
  return Rounded(seconds / 3600);
}

OrderedJson Share(double part, double whole) {
  return whole > 0 ? OrderedJson(Rounded(std::clamp(part / whole, 0.0, 1.0)))
                   : OrderedJson(nullptr);
}

OrderedJson Money(const FleetSums& sums, double money) {
  return sums.priced > 0 ? OrderedJson(Rounded(money, 2)) : OrderedJson(nullptr);
}

OrderedJson CauseJson(const FleetSums& sums, Cause cause) {
  return {{"cause", TextOf(cause).name},
          {"words", TextOf(cause).words},
          {"gpu_hours", Hours(sums.lost[cause])},
          {"share", Share(sums.lost[cause], sums.held)}};
}

OrderedJson ToJson(const FleetSums& sums) {
  const auto first = sums.FirstCause();
  return {{"jobs", sums.jobs},
          {"running_jobs", sums.running},
          {"jobs_with_issues", sums.with_issues},
          {"judged_jobs", sums.judged_jobs},
          {"jobs_without_gpus", sums.without_gpus},
          {"gpu_hours", Hours(sums.held)},
          {"judged_gpu_hours", Hours(sums.judged)},
          {"busy_gpu_hours", Hours(sums.busy)},
          {"lost_gpu_hours", Hours(sums.Lost())},
          {"not_judged_gpu_hours", Hours(sums.NotJudged())},
          {"judged_share", Share(sums.judged, sums.held)},
          {"busy_share", Share(sums.busy, sums.judged)},
          {"first_cause", first ? CauseJson(sums, *first) : OrderedJson(nullptr)},
          {"priced_share", Share(sums.priced, sums.held)},
          {"cost", Money(sums, sums.cost)},
          {"lost_cost", Money(sums, sums.lost_cost)}};
}

OrderedJson Causes(const Fleet& fleet) {
  std::vector<Cause> causes;
  for (std::size_t i = 1; i < kCauses; ++i) {
    if (fleet.total.lost.seconds[i] > 0) causes.push_back(static_cast<Cause>(i));
  }
  std::ranges::stable_sort(causes, std::greater<>(),
                           [&](Cause cause) { return fleet.total.lost[cause]; });
  OrderedJson json = OrderedJson::array();
  for (const Cause cause : causes) {
    json.push_back(CauseJson(fleet.total, cause));
    json.back()["first_in_jobs"] = fleet.jobs_by_cause[static_cast<std::size_t>(cause)];
  }
  return json;
}

OrderedJson RowsOf(const Fleet& fleet) {
  OrderedJson rows = OrderedJson::array();
  for (const FleetRow& row : fleet.rows) {
    rows.push_back({{"key", NullIfEmpty(row.key)}, {"sums", ToJson(row.sums)}});
  }
  return rows;
}

OrderedJson Jobs(const Fleet& fleet) {
  OrderedJson jobs = OrderedJson::array();
  for (const FleetLoss& job : fleet.jobs) {
    jobs.push_back({{"name", job.name},
                    {"group", NullIfEmpty(job.group)},
                    {"user", NullIfEmpty(job.user)},
                    {"account", NullIfEmpty(job.account)},
                    {"gpu", NullIfEmpty(job.gpu)},
                    {"gpus", job.gpus},
                    {"sentence", NullIfEmpty(job.sentence)},
                    {"sums", ToJson(job.sums)}});
  }
  return jobs;
}

OrderedJson HoursOf(const std::vector<double>& seconds) {
  OrderedJson hours = OrderedJson::array();
  for (const double each : seconds) hours.push_back(Hours(each));
  return hours;
}

OrderedJson Grid(const FleetGrid& grid) {
  OrderedJson rows = OrderedJson::array();
  for (const FleetGridRow& row : grid.rows) {
    rows.push_back({{"key", NullIfEmpty(row.key)},
                    {"gpu_hours", HoursOf(row.held)},
                    {"judged_gpu_hours", HoursOf(row.judged)},
                    {"lost_gpu_hours", HoursOf(row.lost)}});
  }
  return {{"slot_seconds", grid.slot_us / 1'000'000}, {"rows", std::move(rows)}};
}

OrderedJson Weeks(const Fleet& fleet) {
  OrderedJson weeks = OrderedJson::array();
  for (const FleetWeek& week : fleet.weeks) {
    OrderedJson& json = weeks.emplace_back(OrderedJson::object());
    PutTime(json, "from", week.from_us);
    PutTime(json, "to", week.to_us);
    json["sums"] = ToJson(week.sums);
  }
  return weeks;
}

}  // namespace

OrderedJson ToJson(const Fleet& fleet, const FleetQuestion& question) {
  OrderedJson json = OrderedJson::object();
  PutTime(json, "from", question.from_us);
  PutTime(json, "to", question.to_us);
  json["by"] = kFleetWords[static_cast<std::size_t>(question.by)];
  json["total"] = ToJson(fleet.total);
  json["causes"] = Causes(fleet);
  json["rows"] = RowsOf(fleet);
  json["rows_total"] = fleet.rows_total;
  json["jobs"] = Jobs(fleet);
  json["weeks"] = Weeks(fleet);
  json["grid"] = Grid(fleet.grid);
  json["left_out_jobs"] = fleet.left_out;
  return json;
}

Json WeeklyMessage(const Fleet& fleet, const FleetQuestion& question, const std::string& url) {
  OrderedJson data = ToJson(fleet, question);
  data.erase("weeks");
  data.erase("grid");
  data["url"] = url;
  return {{"type", "fleet.weekly"},
          {"timestamp", ToRfc3339(FromMicros(question.to_us))},
          {"data", Json(data)}};
}

}  // namespace stepscope
