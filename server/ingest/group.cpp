#include "server/ingest/group.h"

#include <map>

#include "core/base/text.h"
#include "server/ingest/apply_lifecycle.h"
#include "server/ingest/commands.h"
#include "server/ingest/group_jobs.h"
#include "server/ingest/window_rooms.h"
#include "server/store/job_facts.h"
#include "server/store/streams.h"

namespace stepscope {
namespace {

constexpr char kLimits[] = "set local lock_timeout = '1s'; set local statement_timeout = '5s'";

// The stream of a push, shared by all items of its session.
struct Stream {
  StreamKey key;
  JobRow* job = nullptr;
  const CheckedPush* push = nullptr;  // its newest
  std::uint64_t cursor = 0;
  std::int64_t lost = 0, rejected = 0;
  std::int64_t suspect_offset_us = 0;  // as in CheckedPush, of all items
  StreamStand stand;
  bool known = true;  // false: a new session of a job that has ended
};

// One transaction while it is put together.
struct Group {
  Connection& connection;
  const IngestOptions& options;
  std::int64_t now_us;
  std::map<std::string, JobRow> jobs;  // by name; only those that exist
  std::map<std::pair<std::int64_t, std::string>, Stream> streams;
  std::vector<NewFrame> frames;
  WindowRooms windows;
  std::map<std::pair<std::int64_t, std::int64_t>, NewSchema> schemas;  // by job and hash
  std::map<std::pair<std::int64_t, int>, RankSighting> ranks;          // that sent something
};

// The streams of the items. A job that has ended takes no new session and no samples without
// numbers; sessions it knows may still drain.
Status FindStreams(Group& group, const std::vector<GroupItem>& items) {
  std::vector<StreamKey> ended;
  for (const GroupItem& item : items) {
    const auto job = group.jobs.find(item.push->job);
    if (job == group.jobs.end()) continue;
    const std::int64_t job_id = job->second.job_id;
    const auto [place, fresh] = group.streams.try_emplace({job_id, item.push->session});
    Stream& stream = place->second;
    stream.key = {job_id, 0, item.push->session};
    stream.job = &job->second;
    stream.push = item.push;
    if (const auto off_us = item.push->suspect_offset_us) stream.suspect_offset_us = off_us;
    if (!fresh || !HasEnded(job->second.status)) continue;
    if (item.push->numbered) ended.push_back(stream.key);
    stream.known = false;
  }
  if (ended.empty()) return {};
  const Result<std::vector<bool>> exist = ExistingStreams(group.connection, ended);
  if (!exist) return exist.error();
  for (std::size_t i = 0; i < ended.size(); ++i) {
    group.streams[{ended[i].job_id, ended[i].session}].known = (*exist)[i];
  }
  return {};
}

// The nodes of the streams are seen.
Status FindNodes(Group& group) {
  std::map<std::pair<std::int64_t, std::string>, NodeSeen> seen;
  for (const auto& [key, stream] : group.streams) {
    if (!stream.known) continue;
    const CheckedPush& push = *stream.push;
    NodeSeen& node = seen[{key.first, push.node}];
    const std::int64_t before_us = node.suspect_offset_us;  // of another agent of this node
    node = {key.first, push.node, group.now_us, push.clock_offset_us, push.round_trip_us, 0};
    node.suspect_offset_us = stream.suspect_offset_us ? stream.suspect_offset_us : before_us;
  }
  std::vector<NodeSeen> nodes;
  for (const auto& [key, node] : seen) nodes.push_back(node);
  const Result<std::vector<std::int64_t>> ids = SaveNodes(group.connection, nodes);
  if (!ids) return ids.error();
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> by_name;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    by_name[{nodes[i].job_id, nodes[i].name}] = (*ids)[i];
  }
  for (auto& [key, stream] : group.streams) {
    if (stream.known) stream.key.node_id = by_name[{key.first, stream.push->node}];
  }
  return {};
}

Status LockCursors(Group& group) {
  std::vector<StreamKey> keys;
  std::vector<Stream*> streams;
  for (auto& [key, stream] : group.streams) {
    if (!stream.known) continue;
    keys.push_back(stream.key);
    streams.push_back(&stream);
  }
  if (Status added = AddStreams(group.connection, keys, group.now_us); !added) return added;
  const Result<std::vector<StreamStand>> stands = LockStreams(group.connection, keys);
  if (!stands) return stands.error();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    streams[i]->cursor = static_cast<std::uint64_t>((*stands)[i].stored);
    streams[i]->stand = (*stands)[i];
  }
  return {};
}

// The cursor stands at the frame's number.
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

// One frame that comes next in its stream.
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
  stream.cursor = stream.push->numbered ? frame.last : before + 1;
  ++outcome.frames;
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
    NoteAnswer(*lifecycle, stream.stand);
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
  Stream& stream = group.streams[{job->second.job_id, item.push->session}];
  PushEvents events;
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
    if (Status taken = Take(group, stream, frames[i], events, outcome); !taken)
      return taken.error();
    outcome.cursor = stream.cursor;
  }
  const Status told = Save(group.connection, job->second.job_id, events);
  if (!told) return told.error();
  if (stream.push->numbered) {
    outcome.commands = CommandsFor(*stream.job, stream.stand, group.now_us);
  }
  return outcome;
}

Status Write(Group& group) {
  std::vector<NewSchema> schemas;
  for (const auto& [key, schema] : group.schemas) schemas.push_back(schema);
  if (Status done = InsertSchemas(group.connection, schemas); !done) return done;
  if (Status done = InsertFrames(group.connection, group.frames); !done) return done;
  if (Status done = group.windows.Save(group.connection); !done) return done;
  std::vector<RankSighting> ranks;
  for (const auto& [key, rank] : group.ranks) ranks.push_back(rank);
  if (Status done = RanksSeen(group.connection, ranks); !done) return done;
  std::vector<StreamAdvance> advances;
  for (const auto& [key, stream] : group.streams) {
    if (!stream.known) continue;
    advances.push_back({stream.key.job_id, static_cast<std::int64_t>(stream.cursor), stream.lost,
                        stream.rejected, stream.key.session});
  }
  return AdvanceStreams(group.connection, advances);
}

}  // namespace

Result<std::vector<PushOutcome>> StoreGroup(Connection& connection,
                                            const std::vector<GroupItem>& items,
                                            const IngestOptions& options, std::int64_t now_us) {
  Result<Transaction> transaction = Transaction::Begin(connection);
  if (!transaction) return transaction.error();
  if (Status set = connection.Execute(kLimits); !set) return set.error();
  auto jobs = JobsOf(connection, items, options, now_us);
  if (!jobs) return jobs.error();
  Group group{connection, options, now_us, std::move(*jobs), {}, {}, {}, {}, {}};
  if (Status found = FindStreams(group, items); !found) return found.error();
  if (Status found = FindNodes(group); !found) return found.error();
  if (Status locked = LockCursors(group); !locked) return locked.error();
  std::vector<PushOutcome> outcomes;
  for (const GroupItem& item : items) {
    Result<PushOutcome> outcome = TakeItem(group, item);
    if (!outcome) return outcome.error();
    outcomes.push_back(std::move(*outcome));
  }
  if (Status written = Write(group); !written) return written.error();
  if (Status committed = transaction->Commit(); !committed) return committed.error();
  return outcomes;
}

}  // namespace stepscope
