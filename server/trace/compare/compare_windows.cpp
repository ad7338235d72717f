#include "server/trace/compare/compare_windows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "core/base/json_members.h"

namespace stepscope {
namespace {

constexpr double kErrors = 3;      // standard errors that are noise
constexpr double kLeastOf = 0.01;  // smaller shares of what it was do not matter
constexpr double kMostHidden = 0.05;
constexpr std::size_t kFewestApart = 4;
constexpr std::string_view kWords[] = {"added", "gone", "slower", "faster", "same", "unsure"};

double MeanOf(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

// The variance of the mean of these values; nothing of fewer than two.
std::optional<double> VarianceOfMean(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  const double mean = MeanOf(values);
  double squares = 0;
  for (const double each : values) squares += (each - mean) * (each - mean);
  const auto count = double(values.size());
  return squares / (count - 1) / count;
}

// Every step of one window took longer than every one of the other: by chance once in 35 pairs of
// windows with four steps each, however much the steps differ among themselves.
bool LieApart(const std::vector<double>& one, const std::vector<double>& other) {
  if (one.size() < kFewestApart || other.size() < kFewestApart) return false;
  return std::ranges::max(one) < std::ranges::min(other) ||
         std::ranges::max(other) < std::ranges::min(one);
}

WindowChange ChangeOf(const ComparedRow& row, bool apart) {
  if (!row.noise_s) return WindowChange::kUnsure;
  const double difference = row.after_s - row.before_s;
  if (std::abs(difference) <= kLeastOf * row.before_s) return WindowChange::kSame;
  if (std::abs(difference) <= *row.noise_s && !apart) {
    // What is known to a few percent is the same within these; more noise hides a change.
    const bool hides = *row.noise_s > kMostHidden * row.before_s;
    return hides ? WindowChange::kUnsure : WindowChange::kSame;
  }
  return difference > 0 ? WindowChange::kSlower : WindowChange::kFaster;
}

ComparedRow Compare(const StepTableRow* before, const StepTableRow* after) {
  ComparedRow row;
  row.name = before != nullptr ? before->name : after->name;
  if (before != nullptr) {
    row.before_s = MeanOf(before->seconds);
    row.before_calls = before->calls;
  }
  if (after != nullptr) {
    row.after_s = MeanOf(after->seconds);
    row.after_calls = after->calls;
  }
  const auto one = before != nullptr ? VarianceOfMean(before->seconds) : 0;
  const auto other = after != nullptr ? VarianceOfMean(after->seconds) : 0;
  if (one && other) row.noise_s = kErrors * std::sqrt(*one + *other);
  row.change = before == nullptr  ? WindowChange::kAdded
               : after == nullptr ? WindowChange::kGone
                                  : ChangeOf(row, LieApart(before->seconds, after->seconds));
  return row;
}

std::vector<ComparedRow> CompareRows(const std::vector<StepTableRow>& before,
                                     const std::vector<StepTableRow>& after) {
  std::map<std::string_view, std::pair<const StepTableRow*, const StepTableRow*>> by_name;
  for (const StepTableRow& row : before) by_name[row.name].first = &row;
  for (const StepTableRow& row : after) by_name[row.name].second = &row;
  std::vector<ComparedRow> rows;
  for (const auto& [name, pair] : by_name) rows.push_back(Compare(pair.first, pair.second));
  std::ranges::stable_sort(rows, std::ranges::greater(), [](const ComparedRow& row) {
    return std::abs(row.after_s - row.before_s);
  });
  return rows;
}

OrderedJson RowJson(const ComparedRow& row) {
  return {{"change", ToText(row.change)},
          {"before_seconds", Rounded(row.before_s, 9)},
          {"after_seconds", Rounded(row.after_s, 9)},
          {"difference_seconds", Rounded(row.after_s - row.before_s, 9)},
          {"noise_seconds", row.noise_s ? OrderedJson(Rounded(*row.noise_s, 9)) : OrderedJson()}};
}

OrderedJson ListJson(const std::vector<ComparedRow>& rows, std::size_t most) {
  std::array<std::size_t, std::size(kWords)> counts{};
  for (const ComparedRow& row : rows) ++counts[static_cast<std::size_t>(row.change)];
  OrderedJson numbers = OrderedJson::object(), list = OrderedJson::array();
  for (std::size_t i = 0; i < counts.size(); ++i) numbers[std::string(kWords[i])] = counts[i];
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
    OrderedJson json = {{"name", rows[i].name}};
    const OrderedJson numbers_of = RowJson(rows[i]);
    for (const auto& [key, value] : numbers_of.items()) json[key] = value;
    json["before_calls"] = Rounded(rows[i].before_calls, 3);
    json["after_calls"] = Rounded(rows[i].after_calls, 3);
    list.push_back(std::move(json));
  }
  return {{"counts", std::move(numbers)}, {"rows", std::move(list)}};
}

}  // namespace

std::string_view ToText(WindowChange change) {
  return kWords[static_cast<std::size_t>(change)];
}

ComparedWindows CompareWindows(const StepTable& before, const StepTable& after) {
  const StepTableRow one{"step", 1, before.walls}, other{"step", 1, after.walls};
  return {Compare(&one, &other), CompareRows(before.kernels, after.kernels),
          CompareRows(before.operators, after.operators)};
}

OrderedJson ToJson(const ComparedWindows& compared, std::size_t most) {
  return {{"step", RowJson(compared.step)},
          {"kernels", ListJson(compared.kernels, most)},
          {"operators", ListJson(compared.operators, most)}};
}

}  // namespace stepscope
