#include "rules/diagnosis/window_evidence.h"

#include <algorithm>
#include <map>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::int64_t kLeastWholeSteps = 2;  // a rank needs these in a window
// Steps under a profiler are longer; more than this and they are others.
constexpr double kMostTimesLonger = 2;
constexpr double kLeastTold = 0.01;  // smaller shares are not told in the sentence
constexpr double kManyShort = 0.5;   // from so many short kernels on they are told

struct Wording {
  double WindowFacts::*part;
  std::string_view words;
};
constexpr Wording kIdle[] = {
    {&WindowFacts::communication_s, "communicated while nothing computed"},
    {&WindowFacts::copies_s, "copied while nothing computed"},
    {&WindowFacts::host_late_s, "waited for launches"},
    {&WindowFacts::host_sync_s, "idled while the host waited for a result or a copy"},
    {&WindowFacts::host_data_s, "idled while the host waited for data"},
    {&WindowFacts::short_gap_s, "idled in gaps of less than 10 us"},
    {&WindowFacts::other_idle_s, "idled for another reason"},
};

std::string WhyUnused(const WindowFacts& window, double usual_step_s) {
  const auto of = Format("window {} of rank {}", window.window, window.rank);
  if (window.steps < kLeastWholeSteps) return Format("{} has {} whole steps", of, window.steps);
  if (window.wall_s <= 0) return Format("{} has no time", of);
  const double times = usual_step_s > 0 ? window.step_s / usual_step_s : 1;
  if (times <= kMostTimesLonger && times >= 1 / kMostTimesLonger) return "";
  return Format("{} is not used: its steps took {:.1f} times as long as the job's", of, times);
}

// The profiler makes each launch slower. What steps take longer than without it is therefore taken
// off the time in which the host was late.
WindowFacts WithoutProfiler(WindowFacts window, double usual_step_s) {
  if (usual_step_s <= 0 || window.step_s <= usual_step_s) return window;
  const double longer = window.wall_s * (1 - usual_step_s / window.step_s);
  const double off = std::min(longer, window.host_late_s);
  window.host_late_s -= off;
  window.wall_s -= off;
  return window;
}

void Add(const WindowFacts& window, WindowFacts& sum) {
  for (const auto& [name, part] : WindowFacts::kParts) sum.*part += window.*part;
  // Shares count by the time of their window.
  const double wall = sum.wall_s + window.wall_s;
  const auto mean = [&](double WindowFacts::*share) {
    sum.*share = (sum.*share * sum.wall_s + window.*share * window.wall_s) / wall;
  };
  for (const auto share :
       {&WindowFacts::to_device, &WindowFacts::to_host, &WindowFacts::waits_in_copies,
        &WindowFacts::short_kernels, &WindowFacts::step_s}) {
    mean(share);
  }
  sum.wall_s = wall;
}

// A window's time that is no wait for data, as parts of all of it.
TimeByCause SharesOf(const WindowEvidence& evidence) {
  TimeByCause shares;
  const auto share = [&](double WindowFacts::*part) { return evidence.Share(part); };
  const WindowFacts& sum = evidence.sum;
  shares[Cause::kBusy] = share(&WindowFacts::computing_s);
  shares[Cause::kCommunication] = share(&WindowFacts::communication_s);
  const double directed = sum.to_device + sum.to_host;
  const double to_host = directed > 0 ? sum.to_host / directed : 0;
  const double waits = share(&WindowFacts::host_sync_s);
  const double in_copies = waits * sum.waits_in_copies;
  const double copied = share(&WindowFacts::copies_s) + in_copies;
  shares[Cause::kFromDevice] = copied * to_host;
  shares[Cause::kToDevice] = copied * (1 - to_host);
  shares[Cause::kSynchronisation] = waits - in_copies;
  shares[Cause::kFrameworkOverhead] = share(&WindowFacts::host_late_s);
  shares[Cause::kUnderUse] = share(&WindowFacts::short_gap_s) + share(&WindowFacts::other_idle_s);
  return shares;
}

}  // namespace

double WindowEvidence::Share(double WindowFacts::*part) const {
  return sum.wall_s > 0 ? sum.*part / sum.wall_s : 0;
}

double WindowEvidence::LaunchBound() const {
  return Share(&WindowFacts::host_late_s) + Share(&WindowFacts::short_gap_s);
}

WindowEvidence SumWindows(std::span<const WindowFacts> windows, double usual_step_s) {
  WindowEvidence evidence;
  const bool devices = std::ranges::any_of(windows, &WindowFacts::of_device);
  evidence.sum.of_device = devices;
  std::map<std::int64_t, std::int64_t> steps_of;  // by window
  for (const WindowFacts& window : windows) {
    if (window.of_device != devices) continue;
    if (std::string reason = WhyUnused(window, usual_step_s); !reason.empty()) {
      evidence.unused.push_back(std::move(reason));
      continue;
    }
    Add(WithoutProfiler(window, usual_step_s), evidence.sum);
    ++evidence.ranks;
    // Ranks of a window went through the same steps.
    std::int64_t& steps = steps_of[window.window];
    evidence.sum.steps += std::max<std::int64_t>(window.steps - steps, 0);
    steps = std::max(steps, window.steps);
    const bool known = std::ranges::find(evidence.windows, window.window) != evidence.windows.end();
    if (!known) evidence.windows.push_back(window.window);
  }
  return evidence;
}

void TakeWindows(const WindowEvidence& evidence, bool gpu_clock, TimeByCause& budget) {
  if (!evidence.any() || !evidence.sum.of_device) return;
  constexpr Cause kMeasured[] = {Cause::kCommunication, Cause::kToDevice, Cause::kFromDevice,
                                 Cause::kSynchronisation};
  constexpr Cause kDivided[] = {Cause::kBusy, Cause::kFrameworkOverhead, Cause::kUnderUse};
  TimeByCause shares = SharesOf(evidence);
  if (gpu_clock) {
    for (const Cause cause : kMeasured) shares[cause] = 0;
    shares[Cause::kBusy] = 0;
  }
  double pool = 0, divided = 0;
  const auto is_divided = [&](Cause cause) { return !gpu_clock || cause != Cause::kBusy; };
  for (const Cause cause : kDivided) {
    if (is_divided(cause)) pool += budget[cause];
    divided += shares[cause];
  }
  if (divided <= 0) return;
  if (!gpu_clock) {
    double all = pool;
    for (const Cause cause : kMeasured) all += budget[cause];
    for (const Cause cause : kMeasured) {
      const double seen = all * shares[cause] / shares.Total() - budget[cause];
      const double more = std::clamp(seen, 0.0, pool);
      budget[cause] += more;
      pool -= more;
    }
  }
  for (const Cause cause : kDivided) {
    if (is_divided(cause)) budget[cause] = pool * shares[cause] / divided;
  }
}

// Why a device was idle though its work was launched, nothing says: it is no work that is small.
TimeByCause BudgetOf(const WindowEvidence& evidence) {
  TimeByCause shares = SharesOf(evidence);
  const double unknown = evidence.Share(&WindowFacts::other_idle_s);
  shares[Cause::kUnderUse] -= unknown;
  shares[Cause::kUnknown] += unknown;
  shares[Cause::kRawInput] += evidence.Share(&WindowFacts::host_data_s);
  return shares.Scaled(evidence.sum.wall_s);
}

std::string SentenceOf(const WindowEvidence& evidence) {
  if (!evidence.any()) return "";
  std::string numbers;
  for (const std::int64_t window : evidence.windows) {
    numbers += (numbers.empty() ? "" : ", ") + std::to_string(window);
  }
  const double computed = evidence.Share(&WindowFacts::computing_s) * 100;
  const std::string where = Format("In {} steps of window{} {}", evidence.sum.steps,
                                   evidence.windows.size() == 1 ? "" : "s", numbers);
  if (!evidence.sum.of_device) {
    return Format("{} operators of the CPU ran {:.1f} % of the time.", where, computed);
  }
  std::string text = Format("{} the GPUs computed {:.1f} % of the time", where, computed);
  for (const Wording& idle : kIdle) {
    const double share = evidence.Share(idle.part);
    if (share >= kLeastTold) text += Format(", {} {:.1f} %", idle.words, share * 100);
  }
  if (evidence.sum.short_kernels >= kManyShort) {
    text += Format("; {:.0f} % of the kernels run for less than 10 us",
                   evidence.sum.short_kernels * 100);
  }
  return text + ".";
}

Json ToJson(const WindowEvidence& evidence) {
  Json shares = Json::object();
  for (const auto& [name, part] : WindowFacts::kParts) {
    shares[std::string(name)] = evidence.Share(part);
  }
  Json windows = Json::array();
  for (const std::int64_t window : evidence.windows) windows.push_back(std::to_string(window));
  return {{"windows", std::move(windows)}, {"steps", evidence.sum.steps},
          {"ranks", evidence.ranks},       {"of", evidence.sum.of_device ? "gpu" : "host"},
          {"shares", std::move(shares)},   {"short_kernel_share", evidence.sum.short_kernels},
          {"unused", evidence.unused}};
}

}  // namespace stepscope
