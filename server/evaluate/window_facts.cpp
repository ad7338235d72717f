#include "server/evaluate/window_facts.h"

#include <cmath>
#include <string>

#include "core/base/json.h"
#include "server/store/traces/traces.h"

namespace stepscope {
namespace {

constexpr int kMostTraces = 64;
constexpr double kMostSeconds = 86'400 * 64.0;  // all devices of a trace, a day each

bool Take(const Json& from, std::string_view name, double& into) {
  const auto found = from.find(std::string(name));
  if (found == from.end() || !found->is_number()) return false;
  into = found->get<double>();
  return std::isfinite(into) && into >= 0 && into <= kMostSeconds;
}

bool Read(const Json& evidence, WindowFacts& facts) {
  if (!evidence.is_object()) return false;
  const auto seconds = evidence.find("seconds");
  if (seconds == evidence.end() || !seconds->is_object()) return false;
  for (const auto& [name, number] : WindowFacts::kNumbers) {
    if (!Take(evidence, name, facts.*number)) return false;
  }
  for (const auto& [name, part] : WindowFacts::kParts) {
    if (!Take(*seconds, name, facts.*part)) return false;
  }
  double steps = 0;
  if (!Take(evidence, "steps", steps)) return false;
  facts.steps = static_cast<std::int64_t>(steps);
  facts.of_device = evidence.value("of_device", Json(false)) == Json(true);
  return true;
}

}  // namespace

Result<std::vector<WindowFacts>> ReadWindowFacts(Connection& connection, std::int64_t job_id) {
  const auto traces = ListEvidence(connection, job_id, kMostTraces);
  if (!traces.ok()) return traces.error();
  std::vector<WindowFacts> windows;
  for (const TraceEvidence& trace : *traces) {
    WindowFacts facts{.window = trace.window_id, .rank = trace.rank};
    if (Read(trace.evidence, facts)) windows.push_back(facts);
  }
  return windows;
}

}  // namespace stepscope
