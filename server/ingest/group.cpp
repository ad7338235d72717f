#include "server/ingest/group.h"

#include <algorithm>
#include <map>

#include "core/base/text.h"
#include "server/ingest/apply_lifecycle.h"
#include "server/ingest/check/repeated_frames.h"
#include "server/ingest/check/span_quota.h"
#include "server/ingest/commands.h"
#include "server/ingest/group_jobs.h"
#include "server/ingest/group_nodes.h"
#include "server/ingest/group_streams.h"
#include "server/store/jobs/job_facts.h"

namespace stepscope {
namespace {

// A transaction while it is put together.
struct Group {
  Connection& connection;
  const IngestOptions& options;
  std::int64_t now_us;
  std::map<std::string, JobRow> jobs;  // by name; only existing jobs
  Streams streams;
  std::vector<NewFrame> frames;
  SpanQuota windows;
  std::map<std::pair<std::int64_t, std::int64_t>, NewSchema> schemas;  // by job and hash
  std::map<std::pair<std::int64_t, int>, RankSighting> ranks;          // ranks that sent something
  NodeHolders holders;
};

// Moves the cursor to the frame's number.
void AddTable(Group& group, const Stream& stream, const TableFrame& table, PushOutcome& outcome) {
  const NewFrame row{.job_id = stream.key.job_id,
                     .node_id = stream.key.node_id,
                     .sequence = static_cast<std::int64_t>(stream.cursor),
                     .schema_hash = static_cast<std::int64_t>(table.schema_hash),
                     .from_us = table.from_us,
                     .to_us = table.to_us,
                     .rows = static_cast<std::int64_t>(table.rows),
                     .kind = table.kind,
                     .rank = table.rank,
                     .clock_suspect = table.clock_suspect,
                     .session = stream.key.session,
                     .payload = table.payload};
  if (table.kind == FrameKind::kSpans) {
    group.windows.Add({row.job_id, table.window_id, row.sequence, row.schema_hash, row.from_us,
                       row.to_us, row.rows, row.rank, row.session, row.payload});
  } else {
    group.frames.push_back(row);
  }
  if (table.schema) {
    group.schemas.try_emplace({row.job_id, row.schema_hash},
                              NewSchema{row.job_id, row.schema_hash, *table.schema});
    if (stream.push->numbered) outcome.with_schema.push_back(&table);
  }
  if (table.kind != FrameKind::kTicks) {
    group.ranks.emplace(std::pair(row.job_id, row.rank),
                        RankSighting{row.job_id, row.node_id, row.rank, row.from_us});
  }
  outcome.samples += table.samples;
  outcome.bytes += table.payload.size();
}

void Reject(Stream& stream, const ReportedBy& by, const RejectedFrame& rejected,
            PushOutcome& outcome) {
  ++stream.rejected, ++outcome.refused;
  Note(by.events,
       {by.now_us,
        "frame_rejected",
        by.node,
        1,
        {{"sequence", rejected.sequence}, {"code", rejected.code}, {"detail", rejected.detail}}});
}

// Moves the cursor past the frame.
void Pass(Stream& stream, const CheckedFrame& frame, PushOutcome& outcome) {
  stream.cursor = stream.push->numbered ? frame.last : stream.cursor + 1;
  outcome.cursor = stream.cursor;
  ++outcome.frames;
}

// Takes the frame that comes next in its stream.
Status Take(Group& group, Stream& stream, const CheckedFrame& frame, PushEvents& events,
            PushOutcome& outcome) {
  const ReportedBy by{stream.key.job_id,
                      stream.key.node_id,
                      stream.key.session,
                      stream.push->node,
                      group.now_us,
                      group.options.public_url,
                      events};
  const std::uint64_t before = stream.cursor;
  Pass(stream, frame, outcome);
  if (const auto* table = std::get_if<TableFrame>(&frame.content)) {
    const auto fault = group.windows.Take(group.connection, by.job_id, *table);
    if (!fault) return fault.error();
    if (!fault->empty()) {
      outcome.rejected.push_back({frame.sequence, "bad-window", *fault});
      Reject(stream, by, outcome.rejected.back(), outcome);
      return {};
    }
    AddTable(group, stream, *table, outcome);
    return ApplyTable(group.connection, by, *table, *stream.job);
  }
  if (const auto* lifecycle = std::get_if<Lifecycle>(&frame.content)) {
    NoteAnswer(*lifecycle, stream.stored_cursor);
    return ApplyLifecycle(group.connection, by, *lifecycle);
  }
  if (const auto* lost = std::get_if<LostRange>(&frame.content)) {
    stream.lost += static_cast<std::int64_t>(frame.last - before);
    outcome.lost += frame.last - before;
    Note(events, {group.now_us, "frames_lost", by.node, 1, lost->detail});
    return {};
  }
  Reject(stream, by, std::get<RejectedFrame>(frame.content), outcome);
  return {};
}

// A refusal is said again with each repeat: the first answer may have been lost.
void NoteRejected(const CheckedFrame& frame, PushOutcome& outcome) {
  const auto* rejected = std::get_if<RejectedFrame>(&frame.content);
  if (rejected) outcome.rejected.push_back(*rejected);
}

Result<PushOutcome> TakeItem(Group& group, const GroupItem& item) {
  PushOutcome outcome;
  const std::vector<CheckedFrame>& frames = item.push->frames;
  const auto job = group.jobs.find(item.push->job);
  if (job == group.jobs.end()) {
    outcome.gap = frames[item.from].sequence > 1;
    outcome.unknown_job = !outcome.gap;
    return outcome;
  }
  outcome.job_id = job->second.job_id;
  Stream& stream = group.streams[{outcome.job_id, item.push->session}];
  outcome.node_bound = group.holders.IsForeign(*item.push);
  if (outcome.node_bound) return outcome;
  PushEvents events;
  const std::vector<bool> repeated = RepeatedFrames(*item.push, item.from, item.to);
  for (std::size_t i = item.from; i < item.to; ++i) {
    if (!stream.known) {
      outcome.cursor = frames[i].last;
      ++outcome.refused;
      outcome.rejected.push_back(
          {frames[i].sequence, "job-ended",
           Format("job {} has ended; a new run needs a new name", item.push->job)});
      continue;
    }
    outcome.cursor = stream.cursor;
    if (item.push->numbered && frames[i].sequence > stream.cursor + 1) {
      outcome.gap = true;
      break;
    }
    NoteRejected(frames[i], outcome);
    if (item.push->numbered && frames[i].last <= stream.cursor) {
      ++outcome.duplicates;
      continue;
    }
    if (IsOfAnotherJob(frames[i], outcome.job_id)) {
      outcome.unknown_schema = frames[i].sequence;
      break;
    }
    if (repeated[i - item.from]) {
      Pass(stream, frames[i], outcome);
      continue;
    }
    if (Status taken = Take(group, stream, frames[i], events, outcome); !taken)
      return taken.error();
    outcome.cursor = stream.cursor;
  }
  const Status told = Save(group.connection, outcome.job_id, events);
  if (!told) return told.error();
  if (stream.push->numbered) {
    outcome.commands = CommandsFor(*stream.job, stream.stored_cursor, group.now_us);
  }
  return outcome;
}

// Whether the push holds measured values alone, and comes from the known sender of its node.
bool IsPlain(const CheckedPush& push, const BoundNodes& bound, std::int64_t now_us) {
  const auto is_table = [](const CheckedFrame& frame) {
    const auto* table = std::get_if<TableFrame>(&frame.content);
    return table && table->kind != FrameKind::kSpans;
  };
  const bool bound_to = push.sender.empty() || bound.IsOf(push.node, push.sender, now_us);
  return bound_to && std::ranges::all_of(push.frames, is_table);
}

// Whether the jobs exist and have samples: the first ones change more than the job's own rows.
bool HaveStarted(const std::map<std::string, JobRow>& jobs) {
  const auto started = [](const auto& job) { return job.second.started_us.has_value(); };
  return !jobs.empty() && std::ranges::all_of(jobs, started);
}

// The statements that go out with the commit.
std::vector<Statement> WritesOf(const Group& group) {
  std::vector<NewSchema> schemas;
  for (const auto& [key, schema] : group.schemas) schemas.push_back(schema);
  std::vector<RankSighting> ranks;
  for (const auto& [key, rank] : group.ranks) ranks.push_back(rank);
  std::vector<StreamAdvance> advances;
  for (const auto& [key, stream] : group.streams) {
    if (!stream.known) continue;
    advances.push_back({stream.key.job_id, static_cast<std::int64_t>(stream.cursor), stream.lost,
                        stream.rejected, stream.key.session});
  }
  const Placement placement = group.connection.placement();
  std::vector<Statement> writes;
  if (!schemas.empty()) writes.push_back(InsertSchemas(schemas));
  if (!group.frames.empty()) writes.push_back(InsertFrames(group.frames, placement));
  if (!ranks.empty()) writes.push_back(RanksSeen(ranks, placement));
  if (!advances.empty()) writes.push_back(AdvanceStreams(advances, placement));
  return writes;
}

enum class Place { kOnMachine, kAnywhere, kAnywhereWithNew };

// Nothing when a node or a stream is new, unless new ones are made; on a machine also when more
// than the job's own rows would change.
Result<std::optional<std::vector<PushOutcome>>> TryGroup(Connection& connection,
                                                         const std::vector<GroupItem>& items,
                                                         const IngestOptions& options,
                                                         BoundNodes& bound, std::int64_t now_us,
                                                         Place place) {
  const std::string patience = Format("set local lock_timeout = {}", options.lock_wait / 1ms);
  const Statement first[] = {
      {patience, {}}, {"set local statement_timeout = '5s'", {}}, FindJobs(NamesOf(items))};
  std::vector<Rows> begun;
  Result<Transaction> transaction = Transaction::Begin(connection, first, begun);
  if (!transaction) return transaction.error();
  auto jobs = JobsOf(connection, begun.back(), items, options, now_us);
  if (!jobs) return jobs.error();
  if (place == Place::kOnMachine && !HaveStarted(*jobs)) {
    return std::optional<std::vector<PushOutcome>>();
  }
  const bool created = jobs->size() > begun.back().size();  // their streams are surely new
  Group group{connection, options, now_us, std::move(*jobs), {}, {}, {}, {}, {}, {}};
  Result<Streams> streams = FindStreams(connection, group.jobs, items);
  if (!streams) return streams.error();
  group.streams = std::move(*streams);
  if (place == Place::kAnywhereWithNew || created) {
    const Status made = MakeStreams(connection, group.streams, now_us);
    if (!made) return made.error();
  }
  const Result<bool> locked = TakeStreams(connection, group.streams, now_us);
  if (!locked) return locked.error();
  if (!*locked) return std::optional<std::vector<PushOutcome>>();
  auto holders = HoldNodes(connection, group.jobs, group.streams, items, bound, now_us);
  if (!holders) return holders.error();
  group.holders = std::move(*holders);
  std::vector<PushOutcome> outcomes;
  for (const GroupItem& item : items) {
    Result<PushOutcome> outcome = TakeItem(group, item);
    if (!outcome) return outcome.error();
    outcomes.push_back(std::move(*outcome));
  }
  if (Status saved = group.windows.Save(connection); !saved) return saved.error();
  const Status committed = transaction->Commit(WritesOf(group));
  if (!committed) return committed.error();
  group.holders.Remember(items, bound, now_us);
  return std::optional(std::move(outcomes));
}

}  // namespace

// No stream is made while others are locked, and all are taken in order: two servers may wait, but
// never for each other.
Result<std::vector<PushOutcome>> StoreGroup(Connection& connection,
                                            const std::vector<GroupItem>& items,
                                            const IngestOptions& options, BoundNodes& bound,
                                            std::int64_t now_us) {
  auto outcomes = TryGroup(connection, items, options, bound, now_us, Place::kAnywhere);
  if (outcomes && !*outcomes)
    outcomes = TryGroup(connection, items, options, bound, now_us, Place::kAnywhereWithNew);
  if (!outcomes) return outcomes.error();
  if (!*outcomes) return Internal("ingest: a node or stream that was just made is gone");
  return std::move(**outcomes);
}

Result<std::optional<std::vector<PushOutcome>>> StoreGroupThere(Connection& machine,
                                                                const std::vector<GroupItem>& items,
                                                                const IngestOptions& options,
                                                                BoundNodes& bound,
                                                                std::int64_t now_us) {
  const auto plain = [&](const GroupItem& item) { return IsPlain(*item.push, bound, now_us); };
  if (!machine.distributed() || !std::ranges::all_of(items, plain)) {
    return std::optional<std::vector<PushOutcome>>();
  }
  return TryGroup(machine, items, options, bound, now_us, Place::kOnMachine);
}

}  // namespace stepscope
