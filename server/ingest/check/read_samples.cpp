#include "server/ingest/check/read_samples.h"

#include <algorithm>
#include <set>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/model/names.h"
#include "server/ingest/check/check_table.h"
#include "server/ingest/check/decimals.h"
#include "server/ingest/check/sample_density.h"

namespace stepscope {
namespace {

constexpr JsonLimits kLimits{.bytes = kMaxPushBytes, .depth = 32, .values = 2'000'000};
constexpr double kLargest = 9e18;  // the largest value of a column

// Follows the text by the states below, and refuses everything else with its place.
class SampleReader final : public JsonSink {
 public:
  bool Null() override { return at_ == At::kValue ? Add(0, false, 0) : RefuseKind(); }
  bool Flag(bool) override { return RefuseKind(); }
  bool Integer(std::int64_t value) override;
  bool Decimal(double value, std::string_view text) override;
  bool Text(std::string_view text) override;
  bool Key(std::string_view name) override;
  bool BeginObject() override;
  bool EndObject() override;
  bool BeginArray() override;
  bool EndArray() override;

  // After the text has ended.
  bool Finish();
  SampleFault& fault() { return fault_; }
  Samples& samples() { return samples_; }

 private:
  // The next thing: a member of the two objects by its name, or an item of the three lists.
  enum class At {
    kRoot,
    kMember,
    kNode,
    kTimes,
    kTime,
    kSeries,
    kOne,
    kPart,
    kMetric,
    kDevice,
    kValues,
    kValue,
    kEnd
  };
  bool Refuse(std::string pointer, std::string detail);
  bool RefuseKind();
  bool Add(double value, bool present, int decimals);
  bool EndOne();
  bool CheckLengths();
  std::string Place() const;
  std::string Member(const char* name) const {
    return Format("/series/{}/{}", samples_.series.size() - 1, name);
  }

  At at_ = At::kRoot;
  bool has_times_ = false, has_series_ = false, has_metric_ = false, has_values_ = false;
  Samples samples_;
  SampleFault fault_;
};

bool SampleReader::Refuse(std::string pointer, std::string detail) {
  fault_ = {"invalid-body", std::move(pointer), std::move(detail)};
  return false;
}

std::string SampleReader::Place() const {
  switch (at_) {
    case At::kNode:
      return "/node";
    case At::kTimes:
      return "/times_us";
    case At::kTime:
      return Format("/times_us/{}", samples_.times_us.size());
    case At::kSeries:
      return "/series";
    case At::kOne:
      return Format("/series/{}", samples_.series.size());
    case At::kMetric:
      return Member("metric");
    case At::kDevice:
      return Member("device");
    case At::kValues:
      return Member("values");
    case At::kValue:
      return Member("values") + Format("/{}", samples_.series.back().values.size());
    default:
      return "";
  }
}

bool SampleReader::RefuseKind() {
  switch (at_) {
    case At::kTimes:
    case At::kSeries:
    case At::kValues:
      return Refuse(Place(), "a list is wanted");
    case At::kTime:
      return Refuse(Place(), "a whole number of microseconds is wanted");
    case At::kValue:
      return Refuse(Place(), "a number or null is wanted");
    case At::kNode:
    case At::kMetric:
    case At::kDevice:
      return Refuse(Place(), "text is wanted");
    default:
      return Refuse(Place(), "an object is wanted");
  }
}

bool SampleReader::Add(double value, bool present, int decimals) {
  Samples::Series& series = samples_.series.back();
  if (series.values.size() >= kMostSampleTimes) {
    return Refuse(Member("values"), Format("more than {} values", kMostSampleTimes));
  }
  if (value > kLargest || value < -kLargest) {
    return Refuse(Place(), "a number beyond 9e18 cannot be kept");
  }
  series.values.push_back(value);
  series.present.push_back(present ? 1 : 0);
  series.decimals = std::max(series.decimals, decimals);
  return true;
}

bool SampleReader::Integer(std::int64_t value) {
  if (at_ == At::kValue) return Add(static_cast<double>(value), true, 0);
  if (at_ != At::kTime) return RefuseKind();
  if (samples_.times_us.size() >= kMostSampleTimes) {
    return Refuse("/times_us", Format("more than {} times", kMostSampleTimes));
  }
  if (!IsSaneTime(value)) return Refuse(Place(), "outside the years 2000 to 2099");
  samples_.times_us.push_back(value);
  return true;
}

bool SampleReader::Decimal(double value, std::string_view text) {
  return at_ == At::kValue ? Add(value, true, DecimalsOf(text)) : RefuseKind();
}

bool SampleReader::Text(std::string_view text) {
  switch (at_) {
    case At::kNode: {
      if (const Status good = CheckLabel("node", text); !good) {
        return Refuse("/node", good.error().message);
      }
      samples_.node = text;
      at_ = At::kMember;
      return true;
    }
    case At::kMetric:
      samples_.series.back().name.metric = text;
      has_metric_ = true;
      at_ = At::kPart;
      return true;
    case At::kDevice:
      samples_.series.back().name.device = text;
      at_ = At::kPart;
      return true;
    default:
      return RefuseKind();
  }
}

bool SampleReader::Key(std::string_view name) {
  struct Member {
    std::string_view name;
    At of, to;
  };
  static constexpr Member kMembers[] = {
      {"node", At::kMember, At::kNode},     {"times_us", At::kMember, At::kTimes},
      {"series", At::kMember, At::kSeries}, {"metric", At::kPart, At::kMetric},
      {"device", At::kPart, At::kDevice},   {"values", At::kPart, At::kValues}};
  for (const Member& member : kMembers) {
    if (member.of != at_ || member.name != name) continue;
    at_ = member.to;
    return true;
  }
  const std::string place =
      at_ == At::kPart ? Format("/series/{}", samples_.series.size() - 1) : "";
  return Refuse(place, Format("there is no member '{}' here", Printable(name, 64)));
}

bool SampleReader::BeginObject() {
  if (at_ == At::kRoot) {
    at_ = At::kMember;
    return true;
  }
  if (at_ != At::kOne) return RefuseKind();
  if (samples_.series.size() >= kMaxSeriesPerFrame) {
    return Refuse("/series", Format("more than {} series", kMaxSeriesPerFrame));
  }
  // More values than a body may have are refused before memory is taken for them.
  const std::size_t times = samples_.times_us.size();
  if ((samples_.series.size() + 1) * times > kLimits.values) {
    return Refuse("/series", Format("more than {} values", kLimits.values));
  }
  samples_.series.emplace_back().values.reserve(times);
  samples_.series.back().present.reserve(times);
  has_metric_ = has_values_ = false;
  at_ = At::kPart;
  return true;
}

bool SampleReader::EndObject() {
  if (at_ == At::kPart) return EndOne();
  at_ = At::kEnd;
  return true;
}

bool SampleReader::EndOne() {
  const std::string place = Format("/series/{}", samples_.series.size() - 1);
  if (!has_metric_) return Refuse(place, "the member 'metric' is missing");
  if (!has_values_) return Refuse(place, "the member 'values' is missing");
  at_ = At::kOne;
  const std::optional<TableFault> fault = CheckSeries(samples_.series.back().name);
  if (!fault) return true;
  const bool unknown = fault->code == "unknown-metric";
  fault_ = {unknown ? fault->code : "invalid-body", Member(unknown ? "metric" : "device"),
            fault->detail};
  return false;
}

bool SampleReader::BeginArray() {
  switch (at_) {
    case At::kTimes:
      has_times_ = true;
      at_ = At::kTime;
      return true;
    case At::kSeries:
      has_series_ = true;
      at_ = At::kOne;
      return true;
    case At::kValues:
      has_values_ = true;
      at_ = At::kValue;
      return true;
    default:
      return RefuseKind();
  }
}

bool SampleReader::EndArray() {
  at_ = at_ == At::kValue ? At::kPart : At::kMember;
  return true;
}

bool SampleReader::CheckLengths() {
  const std::size_t times = samples_.times_us.size();
  for (std::size_t i = 0; i < samples_.series.size(); ++i) {
    const std::size_t values = samples_.series[i].values.size();
    if (values == times) continue;
    return Refuse(Format("/series/{}/values", i),
                  Format("{} values, there are {} times", values, times));
  }
  return true;
}

bool SampleReader::Finish() {
  if (samples_.node.empty()) return Refuse("", "the member 'node' is missing");
  if (!has_times_) return Refuse("", "the member 'times_us' is missing");
  if (!has_series_) return Refuse("", "the member 'series' is missing");
  if (samples_.times_us.empty()) return Refuse("/times_us", "has no times");
  if (samples_.series.empty()) return Refuse("/series", "has no series");
  if (!CheckLengths()) return false;
  std::set<SeriesName> seen;
  bool any = false;
  for (std::size_t i = 0; i < samples_.series.size(); ++i) {
    const Samples::Series& series = samples_.series[i];
    if (!seen.insert(series.name).second) {
      return Refuse(Format("/series/{}", i), "the series stands twice");
    }
    any = any || std::ranges::count(series.present, 1) > 0;
  }
  return any || Refuse("/series", "has no values, only null");
}

}  // namespace

std::variant<Samples, SampleFault> ReadSamples(std::string_view body) {
  SampleReader reader;
  const Status read = ReadJson(body, reader, kLimits);
  if (read && reader.Finish()) {
    if (auto fault = CheckDensity(reader.samples())) return std::move(*fault);
    return std::move(reader.samples());
  }
  if (!reader.fault().code.empty()) return std::move(reader.fault());
  return SampleFault{"invalid-body", "", read.error().message};
}

}  // namespace stepscope
