#include "server/ingest/group_streams.h"

#include <algorithm>
#include <iterator>

#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

// The nodes of the streams, by job and name. A node with several streams may have been seen with a
// wrong clock in only one of them.
std::vector<NodeSeen> NodesOf(const std::vector<Stream*>& streams, std::int64_t now_us) {
  std::map<std::pair<std::int64_t, std::string>, NodeSeen> seen;
  for (const Stream* stream : streams) {
    const CheckedPush& push = *stream->push;
    const std::int64_t job_id = stream->key.job_id;
    NodeSeen& node = seen[{job_id, push.node}];
    const std::int64_t before_us = node.suspect_offset_us;
    node = {job_id, push.node, now_us, push.clock_offset_us, push.round_trip_us, 0};
    node.suspect_offset_us = stream->suspect_offset_us ? stream->suspect_offset_us : before_us;
  }
  std::vector<NodeSeen> nodes;
  for (auto& [key, node] : seen) nodes.push_back(std::move(node));
  return nodes;
}

std::vector<Stream*> KnownOf(Streams& streams) {
  std::vector<Stream*> known;
  for (auto& [key, stream] : streams) {
    if (stream.known) known.push_back(&stream);
  }
  return known;
}

std::vector<StreamKey> KeysOf(const std::vector<Stream*>& streams) {
  std::vector<StreamKey> keys;
  for (const Stream* stream : streams) keys.push_back(stream->key);
  return keys;
}

// False when a node is new.
bool SetNodes(const std::vector<Stream*>& streams, const Rows& seen) {
  const auto numbers = NodeNumbers(seen);
  for (Stream* stream : streams) {
    const auto node = numbers.find({stream->key.job_id, stream->push->node});
    if (node == numbers.end()) return false;
    stream->key.node_id = node->second;
  }
  return true;
}

}  // namespace

// A job that has ended takes no new session and no samples without numbers; sessions it knows may
// still drain.
Result<Streams> FindStreams(Connection& connection, std::map<std::string, JobRow>& jobs,
                            const std::vector<GroupItem>& items) {
  Streams streams;
  std::vector<StreamKey> ended;
  for (const GroupItem& item : items) {
    const auto job = jobs.find(item.push->job);
    if (job == jobs.end()) continue;
    const std::int64_t job_id = job->second.job_id;
    const auto [place, fresh] = streams.try_emplace({job_id, item.push->session});
    Stream& stream = place->second;
    stream.key = {job_id, 0, item.push->session};
    stream.job = &job->second;
    stream.push = item.push;
    if (const auto off_us = item.push->suspect_offset_us) stream.suspect_offset_us = off_us;
    if (!fresh || !HasEnded(job->second.status)) continue;
    if (item.push->numbered) ended.push_back(stream.key);
    stream.known = false;
  }
  if (ended.empty()) return streams;
  const Result<std::vector<bool>> exist = ExistingStreams(connection, ended);
  if (!exist) return exist.error();
  for (std::size_t i = 0; i < ended.size(); ++i) {
    streams[{ended[i].job_id, ended[i].session}].known = (*exist)[i];
  }
  return streams;
}

Status MakeStreams(Connection& connection, Streams& streams, std::int64_t now_us) {
  const std::vector<Stream*> known = KnownOf(streams);
  if (known.empty()) return {};
  const std::vector<NodeSeen> nodes = NodesOf(known, now_us);
  const auto made = connection.QueryTogether(
      std::vector{AddNodes(nodes), SeeNodes(nodes, connection.placement())});
  if (!made) return made.error();
  if (!SetNodes(known, made->back())) return Internal("ingest: a node that was made is gone");
  return Done(connection.QueryByKey(AddStreams(KeysOf(known), now_us)));
}

Result<bool> TakeStreams(Connection& connection, Streams& streams, std::int64_t now_us) {
  const std::vector<Stream*> known = KnownOf(streams);
  if (known.empty()) return true;
  const std::vector<StreamKey> keys = KeysOf(known);
  const Placement placement = connection.placement();
  std::vector<Statement> calls = {SeeNodes(NodesOf(known, now_us), placement)};
  std::ranges::move(LockStreams(keys, placement), std::back_inserter(calls));
  const auto rows = connection.QueryTogether(calls);
  if (!rows) return rows.error();
  if (!SetNodes(known, rows->front())) return false;
  const auto stands = CursorsOf(keys, std::span(*rows).subspan(1));
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (!stands[i]) return false;
    known[i]->stored_cursor = *stands[i];
    known[i]->cursor = static_cast<std::uint64_t>(stands[i]->stored);
  }
  return true;
}

}  // namespace stepscope
