#include "agent/marks/marks_rank.h"

#include <algorithm>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/model/metric.h"
#include "core/model/span_bins.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostTakenSteps = 16'384;
constexpr std::size_t kMostRankNames = 512;
constexpr std::int64_t kMostNumber = std::int64_t{1} << 53;  // largest integer in JSON
constexpr std::size_t kMostClaims = 8;
constexpr std::size_t kRankMetricBytes = 192;  // a metric takes them beside its names
constexpr std::string_view kOtherNames = "(other)";
// The annotation by which the package tells of evaluations.
constexpr std::string_view kEvaluationName = "evaluation";
constexpr Duration kMostEvaluated = std::chrono::hours(24);  // keeps endless sums far from overflow

void AddCounts(MarkSource& sum, const MarkSource& process) {
  sum.dropped += process.dropped;
  sum.refused += process.refused;
  sum.cut += process.cut;
}

AnnotationStatistic ToStatistic(const std::string& name, const AnnotationSums& sums) {
  return {name,
          ToMicros(sums.from),
          ToMicros(sums.to),
          sums.count,
          sums.sum.count(),
          sums.least.count(),
          sums.most.count()};
}

void PutText(Json& json, const char* key, const std::string& text) {
  if (!text.empty()) json[key] = text;
}

}  // namespace

void RankRecord::NoteClaim(std::int64_t pid) {
  for (const std::int64_t one : {owner_.pid, pid}) {
    const bool known = std::ranges::find(claimed_, one) != claimed_.end();
    if (!known && claimed_.size() < kMostClaims) claimed_.push_back(one);
  }
}

std::string RankRecord::SecondProcess(std::int32_t rank) const {
  if (claimed_.empty()) return "";
  std::string pids;
  for (const std::int64_t pid : claimed_) pids += Format("{}{}", pids.empty() ? "" : ", ", pid);
  return Format("{}{} processes say that they are rank {}: pid {}; the steps of one are shown{}",
                claimed_.size(), claimed_.size() == kMostClaims ? " or more" : "", rank, pids,
                owner_.ring == nullptr ? "" : Format(", now of pid {}", owner_.pid));
}

void RankRecord::AddStep(const StepSource& source, const Step& step, std::uint64_t start_ns) {
  if (owner_.ring == nullptr) owner_ = source;
  const bool foreign = owner_.ring != source.ring;
  // Another ring of the same process is another thread's.
  if (foreign && owner_.pid != source.pid) NoteClaim(source.pid);
  if (foreign || steps_.size() >= most_steps_ || step.number > kMostNumber) {
    ++ignored_steps_;
    return;
  }
  if (step.number + shift_ <= last_) shift_ = last_ + 1 - step.number;
  if (step.number + shift_ > kMostNumber) {
    ++ignored_steps_;
    return;
  }
  last_ = step.number + shift_;
  steps_.push_back(step);
  steps_.back().number = last_;
  spans_.AddStep(last_, start_ns, start_ns + static_cast<std::uint64_t>(step.wall.count()));
}

void RankRecord::AddAnnotation(const std::string& name, const AnnotationSums& sums) {
  const bool full = annotations_.size() >= kMostRankNames && !annotations_.contains(name);
  if (name == kEvaluationName)
    evaluated_ = std::min(evaluated_ + std::min(sums.sum, kMostEvaluated), kMostEvaluated);
  auto& bins = annotations_[full || name.empty() ? std::string(kOtherNames) : name];
  const auto [bin, added] = bins.try_emplace(SpanBinOf(sums.least.count()));
  bin->second.Add(sums);
  if (added) ++waiting_sums_;
}

bool RankRecord::SetMetric(const std::string& name, const MetricValue& value, MarkRoom& room) {
  auto known = metrics_.find(name);
  if (known == metrics_.end()) {
    std::string metric = Format("user.{}", name);
    if (metrics_.size() >= kMostMetrics || !IsCustomMetric(metric)) return false;
    const std::size_t bytes = kRankMetricBytes + name.size() + metric.size();
    if (!MarkRoom::Take(room.bytes, bytes)) return false;
    bytes_ += bytes;
    known = metrics_.emplace(name, Metric{std::move(metric)}).first;
  }
  auto& newest = known->second.newest;
  if (!newest) newest = value;
  newest->Keep(value);
  return true;
}

void RankRecord::TakeMetrics(std::int32_t rank, const UseMetric& use) {
  for (auto& [name, one] : metrics_) {
    if (one.newest) use(rank, one.metric, one.newest->value);
    one.newest.reset();
  }
}

void RankRecord::RingEnded(const void* ring) {
  if (owner_.ring == ring) owner_ = {};
}

void RankRecord::ProcessEnded(const MarkSource& process) {
  AddCounts(gone_, process);
}

std::string RankRecord::Facts(const MarkSource& first,
                              const std::vector<const MarkSource*>& all) const {
  Json json = Json::object();
  for (const auto& [key, value] : first.facts) json[key] = value;
  json["pid"] = first.pid;
  json["local_rank"] = first.hello.local_rank;
  json["world_size"] = first.hello.world_size;
  PutText(json, "job", first.hello.job);
  PutText(json, "framework", first.hello.framework);
  PutText(json, "python", first.hello.python);
  PutText(json, "library", first.hello.library);
  MarkSource sum = gone_;
  for (const MarkSource* process : all) AddCounts(sum, *process);
  json["dropped"] = sum.dropped;
  json["refused"] = sum.refused;
  json["cut_steps"] = sum.cut;
  json["ignored_steps"] = ignored_steps_;
  PutText(json, "second_process", SecondProcess(first.hello.rank));
  return Dump(json);
}

RankMarks RankRecord::Take(std::int32_t rank) {
  RankMarks marks;
  marks.rank = rank;
  const auto end =
      steps_.begin() + static_cast<std::ptrdiff_t>(std::min(steps_.size(), kMostTakenSteps));
  marks.steps.assign(steps_.begin(), end);
  steps_.erase(steps_.begin(), end);
  for (const auto& [name, bins] : annotations_) {
    for (const auto& [bin, sums] : bins) marks.annotations.push_back(ToStatistic(name, sums));
  }
  annotations_.clear();
  waiting_sums_ = 0;
  marks.spans = spans_.Take();
  return marks;
}

}  // namespace stepscope
