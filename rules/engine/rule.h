#pragma once

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "core/model/step.h"
#include "core/model/table.h"
#include "rules/engine/params.h"
#include "rules/engine/window_facts.h"

namespace stepscope {

struct NodeFacts {
  std::string name;
  int cores = 0;
  std::size_t gpus = 0;
  int cores_allowed = 0;           // the cores that the job may use of them; 0 when no agent told
  std::string hooks_missing = {};  // why processes of the node report no steps; "" when not known
  std::string gpu_model = {};      // of its first GPU; "" without one

  // The cores that the job has on the node, as far as is known.
  int Usable() const { return cores_allowed > 0 ? std::min(cores_allowed, cores) : cores; }
};

// A training process that connected, and the settings that it reported.
struct RankFacts {
  int rank = 0;
  std::string node;
  std::optional<Time> ended = {};
  std::optional<std::int64_t> loader_workers = {}, prefetch_factor = {}, batch_size = {};
  std::optional<bool> pin_memory = {};
  // Waits for other ranks are not among its phases: they are hidden in the GPU's queue or in the
  // backward pass.
  bool hides_communication = false;
  // Batches reach the training thread another way than from a loader that it reads: its waits for
  // them are not seen.
  bool hides_data = false;
  bool no_loader = false;           // it is so because no loader was seen at all
  std::string second_process = {};  // which processes say that they are this rank; "" for one
  std::string gpu_clock = {};       // why times by the GPU's clock are missing; "" when not known
  // Host times of its work are times of launches; the GPU works on.
  bool gpu_async = false;
  // Its training thread sleeps while it waits for other ranks: gloo, on a CPU.
  bool sleeps_in_waits = false;
};

// A run of the job's group that ended before the job was made.
struct EarlierRun {
  double step_s = 0;       // its median step, in seconds
  std::string setup = {};  // see SetupOf; "" when it is not known
};

// Facts about a job, besides its samples, that a rule may use.
struct JobFacts {
  Duration interval = 500ms;    // between two ticks
  std::optional<Time> started;  // its first sample
  std::vector<NodeFacts> nodes;
  std::vector<RankFacts> ranks;            // by number
  std::optional<Time> first_rank;          // when the first rank connected
  std::optional<Time> removed_until = {};  // samples from before it are no longer stored
  // Newest first. Only for a rule that `compares_runs`, when it begins.
  std::vector<EarlierRun> earlier_runs = {};
  std::vector<WindowFacts> windows = {};  // what windows of operators say, by window and rank

  std::size_t Gpus() const;
};

// Aligned columns of one node's ticks, oldest first: the rows [first, end) of a table.
struct TickView {
  std::string_view node;
  std::span<const std::int64_t> at_us;
  std::span<const SeriesName> series;
  std::span<const Column> columns;  // one for each series
  std::size_t first = 0, end = 0;

  Time At(std::size_t row) const { return FromMicros(at_us[row]); }
};

// The end of a step, in whole microseconds, as saved states keep times: a verdict must not depend
// on when the state was saved.
inline Time EndedAt(const Step& step) {
  return std::chrono::floor<std::chrono::microseconds>(step.start + step.wall);
}

// Steps of one rank, oldest first.
struct StepView {
  int rank = 0;
  std::string_view node;
  std::span<const Step> steps;
};

enum class VerdictKind { kUnknown, kClear, kFinding };
enum class Severity { kNone, kLow, kMedium, kHigh };
std::string_view ToText(VerdictKind kind);
std::string_view ToText(Severity severity);

// The severity for the lost part of the job's GPU time (or step time), 0 to 1.
Severity SeverityOfLoss(double lost);

// The judgement of a rule. `sentence` always has its numbers; for an unknown verdict it is the
// reason.
struct Verdict {
  VerdictKind kind = VerdictKind::kUnknown;
  std::string sentence;
  double share = 0;  // part of the judged time in which it fired, 0 to 1
  Severity severity = Severity::kNone;
  bool active = false;        // the newest window fires
  std::optional<Time> fired;  // data time of the first trigger
  Json evidence = Json::object();
};

// An unknown verdict: `reason` says why there is no judgement yet.
Verdict Unknown(std::string reason);

// The node, device or rank that a finding is about; parts that do not apply stay empty.
struct Subject {
  std::string node, device;
  int rank = -1;

  auto operator<=>(const Subject&) const = default;
};

// A stretch of time in which a rule fired.
struct Finding {
  std::int64_t number = 0;  // from 1 for each rule of a job; replaces one of equal number
  Time from{}, to{};
  Subject subject;
  std::string sentence;
  Json evidence = Json::object();
};

// The fold of a rule over a job's data: all observations, condensed to bounded state. Each tick of
// a node and each step of a rank is observed exactly once, in time order for each node and rank;
// nodes and ranks interleave in any way between two scans, and steps that ended come before the
// ticks after them. How the data was sliced never changes what a fold says. A fold reads no clock.
// Not for several threads at once.
class Fold {
 public:
  virtual ~Fold() = default;

  virtual void Observe(const TickView&) {}
  virtual void Observe(const StepView&) {}
  // Judges, with all ticks before `at` observed; called once for each scan interval of data, and at
  // the end.
  virtual void Scan(Time) {}
  // The time of the next early check, so that the first trigger need not wait for the next scan:
  // `at` when a scan now would be the first that fires, else when to ask again at the earliest. All
  // ticks before `at` were observed.
  virtual Time NextCheck(Time) const { return Time::max(); }
  // An early scan, after NextCheck gave `at`. It counts as one with the regular scan that follows.
  virtual void ScanEarly(Time at) { Scan(at); }

  virtual Verdict Judge() const = 0;
  // Findings that are new or longer than at the last call, or since Load.
  virtual std::vector<Finding> TakeFindings() { return {}; }

  virtual std::string Save() const = 0;
  // Invalid when `state` is not from Save.
  virtual Status Load(std::string_view state) = 0;
};

// The steps that a rule is shown: none, at least the first ones of each rank, or all of them; it
// can judge without steps, or cannot.
enum class StepNeed { kNone, kFirst, kAllThereAre, kAll };

// The part of a job's data that a rule is shown.
struct Needs {
  std::vector<std::string>
      metrics;  // the rule is shown ticks that have any of them; none = no ticks
  StepNeed steps = StepNeed::kNone;
};

// A row of the catalog.
struct RuleType {
  std::string_view name;
  std::string_view sentence;  // the problem that the rule looks for
  std::string_view fires;     // the exact condition; with the names of its parameters
  std::string_view advice;    // the remedy for a finding
  std::span<const Param> params;
  std::span<const std::string_view> metrics;  // the ticks it needs; none = it is not shown ticks
  StepNeed steps = StepNeed::kNone;
  std::unique_ptr<Fold> (*make)(const Params&, const JobFacts&) = nullptr;
  bool sums_up = false;  // fires when another rule of the job did, too; sends no messages
  // Judges all of the job as one: at its end the status is that of the last verdict, whatever the
  // rule found on the way.
  bool ends_as_the_whole = false;
  bool compares_runs = false;  // compares the job with earlier ones of its group
  // Replaces `metrics` for a rule whose parameters choose its metrics.
  std::vector<std::string> (*chosen_metrics)(const Params&) = nullptr;
  // Checks parameters against each other that are each good; the error says name, value and range.
  Status (*check)(const Json& complete) = nullptr;
};

Needs NeedsOf(const RuleType& rule, const Params& params);

// The verdict of the fold; the evidence of a finding gets the rule's advice where the fold has none
// of its own.
Verdict Judge(const RuleType& rule, const Fold& fold);

}  // namespace stepscope
