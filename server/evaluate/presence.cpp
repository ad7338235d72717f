#include "server/evaluate/presence.h"

#include <algorithm>
#include <map>

#include "core/base/text.h"
#include "server/store/jobs/clock_suspects.h"
#include "server/store/jobs/interval_requests.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostNamed = 5;
constexpr std::size_t kMostMissing = 500;  // bytes of a fact that becomes part of a sentence

std::string AbsenceOf(const NodeRow& node, Time now, Duration silence) {
  if (now - FromMicros(node.last_seen_us) > silence) {
    return "silent since " + ToRfc3339(FromMicros(node.last_seen_us));
  }
  // Such a node would be waited for without end.
  if (IsSuspectOffset(node.clock_offset_us)) {
    return Format("its clock is off by {} s", node.clock_offset_us / 1'000'000);
  }
  return "";
}

Time Bounded(std::int64_t at_us) {
  return FromMicros(std::clamp<std::int64_t>(at_us, 0, ToMicros(kLatestTime)));
}

// Facts come from agents: a fact that is not a number counts as unknown.
int CoresOf(const Json& facts, const char* name) {
  const auto cores = facts.find(name);
  const bool known = cores != facts.end() && cores->is_number_integer();
  return known ? static_cast<int>(std::clamp<std::int64_t>(cores->get<std::int64_t>(), 0, 100'000))
               : 0;
}

// A fact in words; "" where there is none, or one too long to become part of a sentence.
std::string TextOfFact(const Json& facts, const char* name) {
  const auto fact = facts.find(name);
  const bool known = fact != facts.end() && fact->is_string();
  return known && fact->get_ref<const std::string&>().size() <= kMostMissing
             ? fact->get<std::string>()
             : "";
}

// Settings reported by a process are text: "4", "True".
std::optional<std::int64_t> NumberOf(const Json& facts, const char* name) {
  const auto fact = facts.find(name);
  if (fact == facts.end() || !fact->is_string()) return std::nullopt;
  const auto number = ParseInt(fact->get_ref<const std::string&>(), name);
  return number.ok() && *number >= 0 ? std::optional(*number) : std::nullopt;
}

std::optional<bool> FlagOf(const Json& facts, const char* name) {
  const auto fact = facts.find(name);
  if (fact == facts.end()) return std::nullopt;
  return *fact == "True"    ? std::optional(true)
         : *fact == "False" ? std::optional(false)
                            : std::nullopt;
}

// A backend may be one for each kind of device: "cpu:gloo,cuda:nccl".
bool NamesGloo(const Json& facts) {
  const auto backend = facts.find("backend");
  return backend != facts.end() && backend->is_string() &&
         backend->get_ref<const std::string&>().find("gloo") != std::string::npos;
}

// Bytes of a sentence that takes no memory beside the rank's.
constexpr std::size_t kShortMark = 8;

void KeepSentence(std::string& sentence, std::size_t& kept) {
  if (sentence.empty() || kept++ < kMostSentences) return;
  sentence = sentence.substr(0, kShortMark);  // and gives back what it had
}

std::size_t CountSentences(const std::vector<RankFacts>& ranks,
                           const std::string RankFacts::*sentence) {
  return static_cast<std::size_t>(std::ranges::count_if(
      ranks, [=](const RankFacts& rank) { return !(rank.*sentence).empty(); }));
}

RankFacts RankFactsOf(const RankRow& rank, const NodeNames& nodes) {
  RankFacts facts;
  facts.rank = rank.rank;
  const auto node = nodes.find(rank.node_id);
  if (node != nodes.end()) facts.node = node->second;
  if (rank.ended_us) facts.ended = Bounded(*rank.ended_us);
  if (!rank.facts.is_object()) return facts;
  facts.loader_workers = NumberOf(rank.facts, "loader_num_workers");
  facts.prefetch_factor = NumberOf(rank.facts, "loader_prefetch_factor");
  facts.batch_size = NumberOf(rank.facts, "loader_batch_size");
  facts.pin_memory = FlagOf(rank.facts, "loader_pin_memory");
  // Only hooks of PyTorch report a backend; there the traffic of DDP is part of the backward pass.
  facts.gpu_async = FlagOf(rank.facts, "gpu_async").value_or(false);
  facts.hides_communication = facts.gpu_async || rank.facts.contains("backend");
  facts.sleeps_in_waits = !facts.gpu_async && NamesGloo(rank.facts);
  facts.no_loader = TextOfFact(rank.facts, "loader") == "none seen";
  facts.hides_data = facts.no_loader || TextOfFact(rank.facts, "loader_thread") == "another";
  facts.second_process = TextOfFact(rank.facts, "second_process");
  const std::string clock = TextOfFact(rank.facts, "gpu_clock");
  if (clock.starts_with("off: ")) facts.gpu_clock = clock.substr(5);
  return facts;
}

}  // namespace

std::vector<NodePresence> PresenceOf(const std::vector<NodeRow>& nodes,
                                     const std::vector<TickRange>& ranges, Time now,
                                     Duration silence) {
  std::map<std::int64_t, const TickRange*> by_node;
  for (const TickRange& range : ranges) by_node.emplace(range.node_id, &range);
  std::vector<NodePresence> all;
  for (const NodeRow& node : nodes) {
    NodePresence presence{node.node_id, node.name, {}, {}, node.ended_us.has_value(), ""};
    if (!presence.ended) presence.absent = AbsenceOf(node, now, silence);
    if (const auto range = by_node.find(node.node_id); range != by_node.end()) {
      presence.first = Bounded(range->second->from_us);
      presence.last = Bounded(range->second->to_us);
    }
    all.push_back(std::move(presence));
  }
  return all;
}

std::optional<Time> HorizonOf(const std::vector<NodePresence>& nodes, bool job_ended) {
  std::optional<Time> slowest, newest;
  for (const NodePresence& node : nodes) {
    if (!node.last) continue;  // it starts now, after all ticks of the other nodes
    newest = std::max(newest.value_or(*node.last), *node.last);
    if (job_ended || node.ended || !node.absent.empty()) continue;
    slowest = std::min(slowest.value_or(*node.last), *node.last);
  }
  return slowest ? slowest : newest;
}

std::string AbsenceText(const std::vector<NodePresence>& nodes) {
  std::string text;
  std::size_t named = 0, absent = 0;
  for (const NodePresence& node : nodes) {
    if (node.absent.empty() || ++absent > kMostNamed) continue;
    text += Format("{}Node {} is left out: {}.", text.empty() ? "" : " ", node.name, node.absent);
    ++named;
  }
  if (absent > named) text += Format(" So are {} more.", absent - named);
  return text;
}

JobFacts FactsOf(const JobRow& job, const std::vector<NodeRow>& nodes) {
  JobFacts facts;
  facts.interval = std::chrono::milliseconds(IntervalMs(job.configuration));
  for (const NodeRow& node : nodes) {
    const ListFact gpus = ListIn(node.facts, "gpus");
    facts.nodes.push_back({node.name, CoresOf(node.facts, "cores"), gpus.count,
                           CoresOf(node.facts, "cores_allowed"),
                           TextOfFact(node.facts, "hooks_missing"),
                           gpus.first.is_object() ? TextOfFact(gpus.first, "name") : ""});
  }
  if (job.started_us) facts.started = Bounded(*job.started_us);
  return facts;
}

NodeNames NamesOf(const std::vector<NodeRow>& nodes) {
  NodeNames names;
  for (const NodeRow& node : nodes) names.emplace(node.node_id, node.name);
  return names;
}

void AddRanks(const JobRow& job, const NodeNames& nodes, const std::vector<RankRow>& ranks,
              JobFacts& facts) {
  std::size_t shared = CountSentences(facts.ranks, &RankFacts::second_process);
  std::size_t clocks = CountSentences(facts.ranks, &RankFacts::gpu_clock);
  for (const RankRow& rank : ranks) {
    RankFacts& added = facts.ranks.emplace_back(RankFactsOf(rank, nodes));
    KeepSentence(added.second_process, shared);
    KeepSentence(added.gpu_clock, clocks);
    // A process that was killed tells no end: it has ended with the job.
    auto& ended = added.ended;
    if (!ended && job.ended_us) ended = Bounded(*job.ended_us);
    const Time seen = Bounded(rank.first_seen_us);
    facts.first_rank = std::min(facts.first_rank.value_or(seen), seen);
  }
}

}  // namespace stepscope
