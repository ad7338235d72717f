#include "rules/diagnosis/diagnosis.h"

#include <algorithm>
#include <functional>

#include "core/base/text.h"
#include "rules/diagnosis/budget.h"
#include "rules/engine/sentence.h"

namespace stepscope {
namespace {

constexpr std::int64_t kLeastSteps = 20;  // fewer are told as few
constexpr std::size_t kMostNamed = 2;     // causes in the sentence
constexpr double kHour = 3600;
constexpr Duration kLongEnd = 1min;  // shorter ones are not told
// A wait of the host is told beside what of it reached the GPU where it is at least so much of a
// step, and at most half of it did.
constexpr double kLargeWait = 10, kReached = 0.5;
// More workers share what the cores have left.
constexpr double kNoCoreFree = 0.9;
constexpr std::string_view kFullCoresAdvice =
    "The cores are full, so more data-loader workers gain nothing: do what is the same each time "
    "once before the training, use a cheaper decoder or transform, or move it to the GPU.";
constexpr std::string_view kFullCoresWithoutGpuAdvice =
    "The cores are full, so more data-loader workers gain nothing: do what is the same each time "
    "once before the training, or use a cheaper decoder or transform, or a node with more cores.";
constexpr std::string_view kWithoutGpuAdvice =
    "Do what is the same each time once before the training, use a cheaper decoder or transform, "
    "or use more data-loader workers, as far as cores are free.";

// A window sees that the host waited for its input, and not what that waited for.
constexpr std::string_view kInputOfWindow = "waits for input";
constexpr std::string_view kInputOfWindowAdvice =
    "A window does not tell slow reading from slow preprocessing: run the training below the agent "
    "to see which it is. More data-loader workers and prefetching help with both.";

// "0.35 GPU seconds", "12 GPU seconds", "3.42 GPU hours".
std::string TimeText(double seconds, std::string_view of) {
  if (seconds < 10) return Format("{:.2f} {} seconds", seconds, of);
  return seconds < kHour ? Format("{:.0f} {} seconds", seconds, of)
                         : Format("{:.2f} {} hours", seconds / kHour, of);
}

}  // namespace

bool Diagnosis::IsEnough() const {
  return of_windows ? budget.Total() > 0 : budget.Total() >= kLeastDivided;
}

std::vector<Cause> Diagnosis::Ranked() const {
  std::vector<Cause> ranked;
  for (std::size_t i = 1; i < kCauses; ++i) {
    if (budget.seconds[i] > 0) ranked.push_back(static_cast<Cause>(i));
  }
  std::ranges::stable_sort(ranked, std::greater<>(), [this](Cause cause) { return budget[cause]; });
  return ranked;
}

std::optional<Cause> Diagnosis::Bottleneck() const {
  for (const Cause cause : Ranked()) {
    if (cause != Cause::kUnknown && Percent(cause) > threshold) return cause;
  }
  return std::nullopt;
}

// Few steps are steps: the budget goes by their phases, but it may be another one with more of
// them.
std::string_view Diagnosis::Confidence() const {
  if (of_windows) return "windows only";
  if (ranks == 0) return "host only";
  if (steps.steps() < kLeastSteps) return "few steps";
  return in_part ? "steps seen in part" : "steps seen";
}

double Diagnosis::Percent(Cause cause) const {
  return budget[cause] / budget.Total() * 100;
}

std::string_view Diagnosis::Words(Cause cause) const {
  return of_windows && cause == Cause::kRawInput ? kInputOfWindow : TextOf(cause).words;
}

std::string Diagnosis::Named(Cause cause) const {
  const bool known = cause == Cause::kLateRank && !late.empty();
  return Format("{}, {:.1f} %", known ? late : std::string(Words(cause)), Percent(cause));
}

// The host may wait while the GPU still works through its queue.
std::string Diagnosis::WaitsThatCostNothing() const {
  const double waits = steps.Share(Phase::kData) * 100;
  const double lost = Percent(Cause::kRawInput) + Percent(Cause::kPreprocessing);
  if (!gpus || waits < kLargeWait || lost > waits * kReached) return "";
  return Format(
      " The host waits {:.1f} % of the step time for data, but the GPUs idle only {:.1f} % for it.",
      waits, lost);
}

// A job that ends its work, and one that hangs, look alike after the newest step.
std::string Diagnosis::NotCounted() const {
  const Duration job =
      parts.initialisation + parts.training + parts.evaluation + parts.finalisation;
  const bool is_long = ToSeconds(parts.finalisation) * 100 > threshold * ToSeconds(job);
  if (parts.finalisation < kLongEnd || !is_long) return "";
  return Format(" The {} after the newest step are not counted.", LengthText(parts.finalisation));
}

std::string Diagnosis::Remarks() const {
  const std::string said = SentenceOf(windows);
  return WaitsThatCostNothing() + (said.empty() ? "" : " " + said) + NotCounted();
}

// Time that nothing explains is not known to be lost.
std::string Diagnosis::Sentence() const {
  std::vector<Cause> named = Ranked();
  std::erase_if(named, [this](Cause cause) { return Percent(cause) <= threshold; });
  named.resize(std::min(named.size(), kMostNamed));
  std::string text =
      Format("{} {:.1f} % of {}", gpus ? "The GPUs were busy" : "The steps were computing",
             Percent(Cause::kBusy), TimeText(budget.Total(), gpus ? "GPU" : "rank"));
  if (named.empty()) {
    text += Format("; no cause took more than {:g} %: no bottleneck found.", threshold);
    return text + Remarks();
  }
  const bool unknown_first = named.front() == Cause::kUnknown;
  std::string_view begins = unknown_first ? "; of the rest most was lost to" : "; most was lost to";
  for (const Cause cause : named) {
    if (cause == Cause::kUnknown) {
      text += Format("; nothing explains {:.1f} %", Percent(cause));
      continue;
    }
    text += Format("{} {}", begins, Named(cause));
    begins = ", then to";
  }
  return text + "." + Remarks();
}

// The share of the step time that some phase names.
double Diagnosis::NamedShare() const {
  const double wall = ToSeconds(steps.wall());
  return wall > 0 ? std::min(steps.NamedSeconds() / wall, 1.0) : 0;
}

// By Amdahl's law: without the cause the training would take the remaining time. Without a GPU that
// could do it, preprocessing stays on the cores, and no more comes of it than they have left.
// Nobody knows what time that nothing explains was good for.
void Diagnosis::AddGain(Cause cause, Json& row) const {
  const double share = budget[cause] / budget.Total();
  const bool goes = share < 1 && cause != Cause::kOnCpu && cause != Cause::kUnknown;
  row["speed_up"] = goes ? Json(1 / (1 - share)) : Json();
  const bool computes = cause == Cause::kPreprocessing && !gpus && cores_busy > 0;
  if (goes && computes) row["speed_up"] = std::clamp(1 / cores_busy, 1.0, 1 / (1 - share));
}

std::string_view Diagnosis::Advice(Cause cause) const {
  if (of_windows && cause == Cause::kRawInput) return kInputOfWindowAdvice;
  if (cause == Cause::kPreprocessing && cores_busy > kNoCoreFree) {
    return gpus ? kFullCoresAdvice : kFullCoresWithoutGpuAdvice;
  }
  if (cause == Cause::kPreprocessing && !gpus) return kWithoutGpuAdvice;
  return AdviceOf(cause, NamedShare() > 0);
}

Json Diagnosis::Row(Cause cause) const {
  const CauseText& text = TextOf(cause);
  const double seconds = budget[cause], share = seconds / budget.Total();
  Json row = {
      {"cause", text.name}, {"words", Words(cause)}, {"seconds", seconds}, {"share", share}};
  if (price > 0 && gpus) row["cost"] = seconds / kHour * price;
  if (cause == Cause::kBusy) return row;
  AddGain(cause, row);
  row["stage"] = text.stage == 0 ? Json() : Json(text.stage);
  row["suspect"] = text.suspect.empty() ? Json() : Json(text.suspect);
  row["advice"] = Advice(cause);
  row["rules"] = Json::array();
  for (const std::string_view rule : Split(text.rules, ',')) {
    if (!rule.empty()) row["rules"].push_back(rule);
  }
  return row;
}

Json Diagnosis::Evidence() const {
  Json rows = Json::array({Row(Cause::kBusy)});
  for (const Cause cause : Ranked()) rows.push_back(Row(cause));
  Json evidence = {{"unit", gpus ? "gpu_seconds" : "rank_seconds"},
                   {"total_seconds", budget.Total()},
                   {"threshold", threshold},
                   {"steps", steps.steps()},
                   {"ranks", ranks},
                   {"nodes", nodes},
                   {"confidence", Confidence()},
                   {"clock", gpu_clock ? "gpu" : "host"},
                   {"named_share", steps.steps() > 0 ? Json(NamedShare()) : Json()},
                   {"missing", missing},
                   {"budget", std::move(rows)}};
  evidence["windows"] = windows.any() || !windows.unused.empty() ? ToJson(windows) : Json();
  evidence["parts"] = {{"initialisation", ToSeconds(parts.initialisation)},
                       {"training", ToSeconds(parts.training)},
                       {"evaluation", ToSeconds(parts.evaluation)},
                       {"finalisation", ToSeconds(parts.finalisation)}};
  return evidence;
}

}  // namespace stepscope
