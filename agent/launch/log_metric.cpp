#include "agent/launch/log_metric.h"

#include <unistd.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "core/base/text.h"
#include "core/model/metric.h"

namespace stepscope {
namespace {

constexpr std::size_t kLongestLogLine = 1024;
constexpr std::size_t kMostBytes = 256 * 1024;  // bytes of lines in one tick

}  // namespace

Result<LogPattern> LogPattern::Parse(std::string_view text) {
  const std::string shown = Printable(text, 80);
  const std::size_t equals = text.find('=');
  if (equals == text.npos) {
    return Invalid(
        Format("--log-metric {}: must be NAME=PATTERN, such as 'loss=loss: ([0-9.]+)'", shown));
  }
  LogPattern pattern;
  pattern.metric_ = Format("user.{}", text.substr(0, equals));
  if (!IsCustomMetric(pattern.metric_)) {
    return Invalid(
        Format("--log-metric {}: a name is 1 to 58 letters, digits, '_' and '.'", shown));
  }
  auto source = Pattern::Parse(text.substr(equals + 1));
  if (!source) return Invalid(Format("--log-metric {}: {}", shown, source.error().message));
  if (!source->has_group()) {
    return Invalid(Format("--log-metric {}: the value must stand in parentheses", shown));
  }
  pattern.pattern_ = std::move(*source);
  return pattern;
}

std::optional<double> LogPattern::Read(const std::string& line) const {
  const auto found = pattern_.Group(line);
  if (!found) return std::nullopt;
  const char* begin = found->data();
  const char* const end = begin + found->size();
  if (begin != end && *begin == '+') ++begin;
  double value = 0;
  const auto [last, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || last != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

LogMetrics::LogMetrics(std::vector<LogPattern> patterns, Descriptor lines)
    : patterns_(std::move(patterns)), lines_(std::move(lines)), values_(patterns_.size()) {
  for (const LogPattern& pattern : patterns_) series_.emplace_back(pattern.metric(), "");
}

Status LogMetrics::Collect(SteadyTime, TickRow& row) {
  char bytes[16 * 1024];
  for (std::size_t size = 0; size < kMostBytes;) {
    const ssize_t count = read(lines_.get(), bytes, sizeof bytes);
    if (count <= 0) break;
    size += static_cast<std::size_t>(count);
    for (const char byte : std::string_view(bytes, static_cast<std::size_t>(count))) {
      if (byte == '\n') Take(line_), line_.clear();
      if (byte != '\n' && line_.size() < kLongestLogLine) line_ += byte;
    }
  }
  for (std::size_t i = 0; i < patterns_.size(); ++i) {
    if (const auto value = std::exchange(values_[i], std::nullopt)) series_[i].Set(*value, row);
  }
  return {};
}

void LogMetrics::Take(const std::string& line) {
  for (std::size_t i = 0; i < patterns_.size(); ++i) {
    if (const auto value = patterns_[i].Read(line)) values_[i] = value;
  }
}

}  // namespace stepscope
