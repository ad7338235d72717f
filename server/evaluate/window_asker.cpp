#include "server/evaluate/window_asker.h"

#include <algorithm>
#include <utility>

#include "core/base/log.h"
#include "core/base/text.h"
#include "server/evaluate/window_choice.h"
#include "server/store/jobs/windows.h"
#include "server/store/rules/rules.h"
#include "server/store/steps/steps.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostJobs = 10'000, kMostSteps = 50'000;
constexpr Duration kLongestStall = 1min;  // the longest slow step that is found by its end
constexpr std::string_view kNodeFacts[] = {"allows", "gpus"};
constexpr std::string_view kRankFacts[] = {"window_slowdown"};

bool HasGpus(const std::vector<NodeRow>& nodes) {
  return std::ranges::any_of(nodes, [](const NodeRow& node) {
    const auto gpus = node.facts.find("gpus");
    return gpus != node.facts.end() && gpus->is_array() && !gpus->empty();
  });
}

// Why the newest window that the service asked for has no trace; "" where it has one, is open, or
// only came too late.
Result<std::string> WhyUnrecorded(Connection& connection, const JobRow& job,
                                  const std::vector<NodeRow>& nodes,
                                  const std::vector<WindowCost>& windows, std::int64_t now_us) {
  if (windows.empty() || windows.front().ranks > 0) return std::string();
  const auto window = FindWindow(connection, job.job_id, windows.front().window_id);
  if (!window) return window.error();
  const WindowState state = WindowStateOf(*window, job, nodes, now_us);
  if (state.status == WindowStatus::kOpen) return std::string();
  const bool late = state.reason.find("had begun") != std::string::npos;
  return late ? std::string() : state.reason;
}

// The rhythm in the verdict of a PeriodicStall, with the number of its newest slow step; none where
// the verdict has none, or that step is not stored.
Result<std::optional<StallRhythm>> ReadStalls(Connection& connection, std::int64_t job_id) {
  const auto rules = ListRuleStates(connection, job_id);
  if (!rules) return rules.error();
  std::optional<StallRhythm> stalls;
  for (const RuleStateRow& rule : *rules) {
    const bool fires = rule.status == RuleStatus::kIssuesFound;
    if (!stalls && fires && rule.config.rule == kPeriodicStall) stalls = RhythmIn(rule.verdict);
  }
  if (!stalls) return stalls;
  const auto steps = ReadSteps(connection, {.job_id = job_id,
                                            .rank = stalls->rank,
                                            .after_us = stalls->newest_us - kLongestStall / 1us,
                                            .until_us = stalls->newest_us,
                                            .most_rows = kMostSteps});
  if (!steps) return steps.error();
  for (const Step& step : *steps) {
    if (ToMicros(step.start + step.wall) > stalls->newest_us + 1) continue;
    stalls->newest_step = step.number;
  }
  return stalls->newest_step > 0 ? stalls : std::nullopt;
}

Result<WindowSituation> ReadSituation(Connection& connection, const JobRow& job,
                                      const std::vector<NodeRow>& nodes, Time now) {
  WindowSituation situation{.now = now,
                            .began = FromMicros(job.started_us.value_or(job.created_us)),
                            .gpus = HasGpus(nodes)};
  std::optional<int> first_rank;
  const auto take = [&](const std::vector<RankRow>& ranks) {
    for (const RankRow& rank : ranks) {
      if (!first_rank) first_rank = rank.rank;
      const auto said = rank.facts.find("window_slowdown");
      if (said == rank.facts.end() || !said->is_string()) continue;
      situation.slowdown = Format("rank {}: {}", rank.rank, said->get<std::string>());
    }
  };
  const Status read = ReadRanksInPieces(connection, job.job_id, kRankFacts, take);
  if (!read) return read.error();
  auto windows = ListWindowCosts(connection, job.job_id);
  if (!windows) return windows.error();
  situation.windows = std::move(*windows);
  auto unrecorded = WhyUnrecorded(connection, job, nodes, situation.windows, ToMicros(now));
  if (!unrecorded) return unrecorded.error();
  situation.unrecorded = std::move(*unrecorded);
  const auto rules = ListRuleStatuses(connection, job.job_id);
  if (!rules) return rules.error();
  for (const RuleStateRow& rule : *rules) {
    if (rule.status == RuleStatus::kIssuesFound) situation.fired.push_back(rule.config.rule);
  }
  if (std::ranges::count(situation.fired, kPeriodicStall) > 0) {
    auto stalls = ReadStalls(connection, job.job_id);
    if (!stalls) return stalls.error();
    situation.stalls = *stalls;
  }
  if (!first_rank) return situation;
  const auto pulse = ReadPulse(connection, job.job_id, *first_rank, now);
  if (!pulse) return pulse.error();
  situation.steps = *pulse;
  return situation;
}

// A conflict is another window, which is fine.
Status Ask(Connection& connection, const JobRow& job, const WindowChoice& choice,
           std::int64_t now_us) {
  Result<Transaction> transaction = Transaction::Begin(connection);
  if (!transaction) return transaction.error();
  const auto asked = AskForWindow(connection, job.job_id,
                                  {.start_step = *choice.start_step,
                                   .num_steps = kAutomaticSteps,
                                   .operators = true,
                                   .asked_by = choice.asked_by},
                                  now_us);
  if (!asked && asked.error().code == Code::kConflict) return {};
  if (!asked) return asked.error();
  if (const Status committed = transaction->Commit(); !committed) return committed;
  LogInfo("job {}: asks for window {} by itself: {} steps from step {} ({})", job.name,
          asked->window.window_id, kAutomaticSteps, *choice.start_step, choice.asked_by);
  return {};
}

}  // namespace

bool WindowAsker::IsDue(std::int64_t job_id) {
  const SteadyTime now = clock_.Steady();
  return looked_.Change([&](std::map<std::int64_t, SteadyTime>& looked) {
    const auto known = looked.find(job_id);
    if (known != looked.end() && now - known->second < kLook) return false;
    if (looked.size() >= kMostJobs) looked.clear();
    looked[job_id] = now;
    return true;
  });
}

Status WindowAsker::Consider(Connection& connection, std::int64_t job_id) {
  if (!IsDue(job_id)) return {};
  const auto job = LoadJob(connection, job_id);
  if (!job) return job.error();
  if (HasEnded(job->status)) return {};
  const auto nodes = ListNodes(connection, job_id, kNodeFacts);
  if (!nodes) return nodes.error();
  if (!AllowsAutomatic(*nodes)) return {};
  const Time now = clock_.Now();
  const auto situation = ReadSituation(connection, *job, *nodes, now);
  if (!situation) return situation.error();
  const WindowChoice choice = ChooseWindow(*situation);
  if (const Status noted = NoteWindow(connection, job_id, choice.note); !noted) return noted;
  return choice.start_step ? Ask(connection, *job, choice, ToMicros(now)) : Status();
}

}  // namespace stepscope
