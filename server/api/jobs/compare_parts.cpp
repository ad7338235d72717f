#include "server/api/jobs/compare_parts.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "core/base/json_members.h"
#include "server/api/http/csv.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostLinePoints = 125;

// A cell of a number, a text or nothing.
void PutCell(Csv& csv, const OrderedJson& value) {
  if (value.is_string()) {
    csv.Text(value.get<std::string>());
  } else if (value.is_number_integer()) {
    csv.Int(value.get<std::int64_t>());
  } else if (value.is_number()) {
    csv.Real(value.get<double>(), 9);
  } else {
    csv.None();
  }
}

void PutRow(Csv& csv, std::string_view part, std::string_view what, const OrderedJson& a,
            const OrderedJson& b) {
  csv.Text(part).Text(what);
  PutCell(csv, a);
  PutCell(csv, b);
  const double from = a.is_number() ? a.get<double>() : 0;
  if (from != 0 && b.is_number()) {
    csv.Real(100 * (b.get<double>() / from - 1), 2);
  } else {
    csv.None();
  }
  csv.EndRow();
}

// Members that both objects can have and that are one value each.
void PutMembers(Csv& csv, std::string_view part, const OrderedJson& a, const OrderedJson& b) {
  const OrderedJson& known = a.is_object() ? a : b;
  if (!known.is_object()) return;
  const auto member = [](const OrderedJson& of, const std::string& key) {
    return of.is_object() && of.contains(key) ? of[key] : OrderedJson(nullptr);
  };
  for (const auto& [key, value] : known.items()) {
    if (!value.is_structured()) PutRow(csv, part, key, member(a, key), member(b, key));
  }
}

void PutRows(Csv& csv, std::string_view part, const OrderedJson& rows, const char* what,
             const char* a, const char* b) {
  for (const OrderedJson& row : rows) {
    PutRow(csv, part, row[what].get<std::string>(), row[a], row[b]);
  }
}

}  // namespace

OrderedJson LineOf(const StepCurve& curve, std::optional<std::int64_t> job_start_us) {
  const auto& points = curve.points();
  const std::size_t at_once = (points.size() + kMostLinePoints - 1) / kMostLinePoints;
  OrderedJson steps = OrderedJson::array(), means = OrderedJson::array();
  OrderedJson starts = OrderedJson::array();
  for (std::size_t i = 0; i < points.size(); i += at_once) {
    StepPoint sum = points[i];
    for (std::size_t j = i + 1; j < std::min(i + at_once, points.size()); ++j) sum.Add(points[j]);
    if (sum.count == 0) continue;
    steps.push_back(sum.step);
    if (job_start_us) starts.push_back(double(sum.start_us - *job_start_us) / 1e6);
    means.push_back(Rounded(double(sum.wall_ns) / double(sum.count) / 1e9, 9));
  }
  return {{"steps", std::move(steps)},
          {"mean_seconds", std::move(means)},
          {"start_seconds", job_start_us ? std::move(starts) : OrderedJson(nullptr)}};
}

OrderedJson HistogramOf(const StepFigures& steps) {
  OrderedJson edges = OrderedJson::array();
  for (const double edge : steps.edges) edges.push_back(Rounded(edge, 9));
  return {{"edges_seconds", std::move(edges)}, {"counts", steps.counts}};
}

OrderedJson PartsOf(const Sparkline& parts) {
  OrderedJson json = OrderedJson::array();
  for (const std::optional<double> part : parts) {
    json.push_back(part ? OrderedJson(Rounded(*part)) : OrderedJson(nullptr));
  }
  return json;
}

std::optional<double> PriceOf(const std::vector<RuleStateRow>& rules) {
  for (const RuleStateRow& rule : rules) {
    if (rule.config.rule != "ProfilerReport" || !rule.config.parameters.is_object()) continue;
    const Json price = rule.config.parameters.value("price_per_gpu_hour", Json());
    if (price.is_number() && price.get<double>() > 0) return price.get<double>();
  }
  return std::nullopt;
}

void PutMoney(OrderedJson& json, std::optional<double> price_per_gpu_hour, std::size_t gpus,
              std::optional<double> run_seconds, std::optional<double> mean_step_seconds) {
  const auto cost = [&](std::optional<double> seconds, int decimals) {
    if (!price_per_gpu_hour || !seconds) return OrderedJson(nullptr);
    return OrderedJson(Rounded(*price_per_gpu_hour * double(gpus) * *seconds / 3600, decimals));
  };
  json["price_per_gpu_hour"] =
      price_per_gpu_hour ? OrderedJson(*price_per_gpu_hour) : OrderedJson(nullptr);
  json["cost"] = cost(run_seconds, 2);
  if (mean_step_seconds) *mean_step_seconds *= 1000;
  json["cost_of_1000_steps"] = cost(mean_step_seconds, 4);
}

Reply ComparisonCsv(const OrderedJson& compared) {
  constexpr std::string_view kColumns[] = {"part", "what", "a", "b", "change_percent"};
  Csv csv(kColumns);
  PutMembers(csv, "job", compared["a"], compared["b"]);
  PutMembers(csv, "steps", compared["steps"]["a"], compared["steps"]["b"]);
  for (const auto& [key, value] : compared["steps"]["change"].items()) {
    // The verdict is about b, held against a.
    const OrderedJson cell = value.is_boolean() ? OrderedJson(value ? "yes" : "no") : value;
    PutRow(csv, "change", key, nullptr, cell);
  }
  PutRows(csv, "phase_seconds", compared["phases"], "phase", "a_seconds", "b_seconds");
  PutRows(csv, "budget_share", compared["budget"], "cause", "a_share", "b_share");
  PutRows(csv, "rule", compared["rules"], "rule_configuration_name", "a", "b");
  PutRows(csv, "differs", compared["differs"], "what", "a", "b");
  return std::move(csv).ToReply("compare.csv");
}

}  // namespace stepscope
