#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "rules/engine/rule.h"
#include "server/store/jobs/jobs.h"
#include "server/store/ticks/job_head.h"

namespace stepscope {

// The facts that are judged, by name.
inline constexpr std::string_view kJudgedNodeFacts[] = {"cores", "cores_allowed", "gpus",
                                                        "hooks_missing"};
inline constexpr std::string_view kJudgedRankFacts[] = {
    "loader_num_workers", "loader_prefetch_factor",
    "loader_batch_size",  "loader_pin_memory",
    "gpu_async",          "backend",
    "loader_thread",      "loader",
    "gpu_clock",          "second_process"};

// A node as the evaluation of a rule sees it.
struct NodePresence {
  std::int64_t node_id = 0;
  std::string name;
  std::optional<Time> first, last;  // first and newest stored tick
  bool ended = false;
  std::string absent;  // why nobody waits for it, although it has not ended: one sentence part
};

std::vector<NodePresence> PresenceOf(const std::vector<NodeRow>& nodes,
                                     const std::vector<TickRange>& ranges, Time now,
                                     Duration silence);

// The time up to which the ticks of all awaited nodes are stored; nothing without ticks. Nodes that
// ended or are absent are not awaited, and no node is once the job ended.
std::optional<Time> HorizonOf(const std::vector<NodePresence>& nodes, bool job_ended);

// Agents and processes may send any time; a rule sees times up to this one.
inline constexpr Time kLatestTime = Time(std::chrono::seconds(7'258'118'400));  // 2200-01-01

// "Node b is left out: silent since 2026-11-20T20:15:00Z." for each absent node; "" for none.
std::string AbsenceText(const std::vector<NodePresence>& nodes);

// The facts of a job and its nodes; ranks come piece by piece.
JobFacts FactsOf(const JobRow& job, const std::vector<NodeRow>& nodes);

using NodeNames = std::map<std::int64_t, std::string>;  // by node
NodeNames NamesOf(const std::vector<NodeRow>& nodes);
// Adds ranks, which come in order. Sentences of ranks are kept of the first kMostSentences that
// have one: of others only whether they have, since a job may have 100,000 ranks.
inline constexpr std::size_t kMostSentences = 64;
void AddRanks(const JobRow& job, const NodeNames& nodes, const std::vector<RankRow>& ranks,
              JobFacts& facts);

}  // namespace stepscope
