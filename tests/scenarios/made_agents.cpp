#include "tests/scenarios/made_agents.h"

#include "core/base/text.h"
#include "core/wire/table_codec.h"

namespace stepscope::scenarios {
namespace {

constexpr std::int64_t kGpuBytes = 80LL * 1024 * 1024 * 1024;
constexpr std::size_t kStepsPerFrame = 2'000;

Json FactsOf(const Training& training) {
  Json gpus = Json::array();
  for (std::size_t i = 0; i < training.gpus; ++i) {
    gpus.push_back({{"device", Format("gpu{}", i)},
                    {"name", "NVIDIA A100-SXM4-80GB"},
                    {"memory_bytes", kGpuBytes}});
  }
  return {{"cores", training.cores},
          {"memory_bytes", 256LL * 1024 * 1024 * 1024},
          {"gpus", gpus},
          {"kernel", "6.1.0"},
          {"agent_version", "scenario"},
          {"absent", Json::array()}};
}

Column Rows(const Column& column, std::size_t from, std::size_t to) {
  const auto part = [&](const auto& of) {
    if (of.empty()) return of;
    return std::remove_cvref_t<decltype(of)>(of.begin() + static_cast<std::ptrdiff_t>(from),
                                             of.begin() + static_cast<std::ptrdiff_t>(to));
  };
  Column rows{column.scale, part(column.values), part(column.present)};
  const bool whole = std::ranges::all_of(rows.present, [](auto has) { return has != 0; });
  if (whole) rows.present.clear();
  return rows;
}

}  // namespace

MadeAgent::MadeAgent(const Training& training, const Job& job, std::size_t node, std::string name,
                     Sender::Post post, const Clock& clock)
    : training_(training),
      job_(job),
      node_(node),
      name_(std::move(name)),
      post_(std::move(post)),
      clock_(clock, training.ClockAhead(node)),
      steps_(training.loop.ranks) {}

const RankSteps& MadeAgent::RankOf(std::size_t local) const {
  return job_.ranks[node_ * training_.loop.ranks + local];
}

void MadeAgent::Begin(Time at) {
  began_ = at;
  ranks_said_ = false;
  lives_.emplace_back(StreamOwner{name_, job_.nodes[node_].node}, post_, clock_);
  Say({{"event", "started"},
       {"at_us", ToMicros(at)},
       {"group", "scenario-" + name_},
       {"interval_ms", training_.interval / 1ms},
       {"command", {"python", "train.py"}},
       {"facts", FactsOf(training_)}});
}

void MadeAgent::Say(const Json& event) {
  lives_.back().stream.Append({.kind = FrameKind::kLifecycle, .payload = Dump(event)});
}

// The first restart that is over before `end` and after which no agent was started yet.
std::optional<Time> MadeAgent::NextRestart(Time end) const {
  for (const Outage& outage : training_.outages) {
    const Time at = job_.origin + clock_.ahead() + outage.to;
    if (outage.kind == OutageKind::kRestart && at > began_ && at < end) return at;
  }
  return std::nullopt;
}

void MadeAgent::AppendUntil(Time end) {
  end += clock_.ahead();
  const Time first = job_.origin + clock_.ahead();
  for (const Outage& outage : training_.outages) {
    const bool ours = outage.kind == OutageKind::kSilence && outage.Covers(node_, outage.from);
    if (ours) end = std::min(end, first + outage.from);
  }
  if (lives_.empty() && first < end) Begin(first);
  while (const auto restart = NextRestart(end)) {
    AppendRanks(*restart);
    AppendTicks(*restart);
    Begin(*restart);
  }
  if (lives_.empty() || ended_) return;
  AppendRanks(end);
  AppendTicks(end);
  if (end >= first + training_.length) AppendEnd();
}

void MadeAgent::AppendRanks(Time end) {
  const Duration connects = training_.loop.connects;
  if (!ranks_said_ && began_ + connects < end) {
    for (std::size_t local = 0; local < training_.loop.ranks; ++local) {
      Json facts = {{"pid", 4200 + local}, {"local_rank", local}};
      for (const auto& [name, value] : training_.loop.facts) facts[name] = value;
      Say({{"event", "rank"},
           {"at_us", ToMicros(began_ + connects)},
           {"rank", RankOf(local).rank},
           {"facts", facts}});
    }
    ranks_said_ = true;
  }
  for (std::size_t local = 0; local < training_.loop.ranks; ++local) AppendSteps(local, end);
}

void MadeAgent::AppendSteps(std::size_t local, Time end) {
  const RankSteps& rank = RankOf(local);
  Schema schema{rank.rank, {{"step", ""}, {"start_us", ""}, {"wall_ns", ""}}, {}};
  // Other times than phases only where the clock of the GPU is known.
  const bool by_gpu = std::ranges::any_of(rank.steps, [](const Step& s) { return !!s.gpu_idle; });
  const std::size_t times = by_gpu ? kStepTimes : kPhaseCount;
  for (std::size_t i = 0; i < times; ++i) {
    schema.columns.push_back({std::string(StepTimeName(i)), ""});
  }
  const auto ended = [&](std::size_t i) {
    return i < rank.steps.size() && rank.steps[i].start + rank.steps[i].wall < end;
  };
  std::size_t& queued = steps_[local];
  while (ended(queued)) {
    Table table{0, std::vector<Column>(3)};
    const std::size_t first = queued;
    for (; ended(queued) && table.rows < kStepsPerFrame; ++queued, ++table.rows) {
      const Step& step = rank.steps[queued];
      table.columns[0].values.push_back(step.number);
      table.columns[1].values.push_back(ToMicros(step.start));
      table.columns[2].values.push_back(step.wall.count());
    }
    const std::span some = std::span(rank.steps).subspan(first, table.rows);
    for (std::size_t i = 0; i < times; ++i) table.columns.push_back(StepTimeColumn(some, i));
    AppendTable(FrameKind::kSteps, schema, table, 1, table.rows);
  }
}

void MadeAgent::AppendTicks(Time end) {
  const NodeTicks& ticks = job_.nodes[node_];
  const auto behind = std::ranges::lower_bound(ticks.at_us, ToMicros(end));
  const auto to = static_cast<std::size_t>(behind - ticks.at_us.begin());
  while (ticks_ < to) {
    const std::size_t some = std::min(to - ticks_, kMaxRowsPerFrame);
    AppendTicks(ticks_, ticks_ + some);
    ticks_ += some;
  }
}

void MadeAgent::AppendTicks(std::size_t from, std::size_t to) {
  const NodeTicks& ticks = job_.nodes[node_];
  Schema schema{-1, {{"at_us", ""}}, {}};
  schema.columns.insert(schema.columns.end(), ticks.series.begin(), ticks.series.end());
  Table table{to - from, {Rows({0, ticks.at_us, {}}, from, to)}};
  for (const Column& column : ticks.columns) table.columns.push_back(Rows(column, from, to));
  AppendTable(FrameKind::kTicks, schema, table, 0, table.rows * ticks.series.size());
}

void MadeAgent::AppendTable(FrameKind kind, const Schema& schema, const Table& table,
                            std::size_t time, std::size_t samples) {
  const std::vector<std::int64_t>& times = table.columns[time].values;
  lives_.back().stream.Append({.kind = kind,
                               .payload = EncodeTable(table),
                               .schema = &schema,
                               .schema_hash = HashSchema(schema),
                               .from_us = times.front(),
                               .to_us = times.back(),
                               .samples = samples});
  samples_ += samples;
}

void MadeAgent::AppendEnd() {
  ended_ = true;
  const std::int64_t at_us = ToMicros(job_.origin + clock_.ahead() + training_.length);
  for (std::size_t local = 0; local < training_.loop.ranks; ++local) {
    Say({{"event", "rank_ended"}, {"at_us", at_us}, {"rank", RankOf(local).rank}});
  }
  Json output = Json::array();
  if (training_.exit_code != 0) output.push_back("RuntimeError: CUDA error: device-side assert");
  Say({{"event", "ended"},
       {"at_us", at_us},
       {"exit_code", training_.exit_code},
       {"output", output}});
}

void MadeAgent::Interrupt(Time at) {
  if (lives_.empty() || ended_) return;
  ended_ = true;
  Say({{"event", "ended"},
       {"at_us", ToMicros(at + clock_.ahead())},
       {"signal", 2},
       {"output", Json::array()}});
}

Duration MadeAgent::Send() {
  Duration wait = Sender::kNothingWaits;
  for (Life& life : lives_) {
    wait = life.sender.Send();
    if (wait != Sender::kNothingWaits) return wait;
  }
  return wait;
}

}  // namespace stepscope::scenarios
