#include "server/ingest/group_streams.h"

#include <algorithm>
#include <iterator>

namespace stepscope {
namespace {

// The nodes of the streams, by job and name. An agent of one may have been seen with a wrong clock
// when another was not.
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

Result<bool> TakeStreams(Connection& connection, Streams& streams, std::int64_t now_us, bool make) {
  const std::vector<Stream*> known = KnownOf(streams);
  if (known.empty()) return true;
  const std::vector<NodeSeen> nodes = NodesOf(known, now_us);
  std::vector<Statement> calls = {make ? SaveNodes(nodes) : SeeNodes(nodes)};
  if (!make) std::ranges::move(LockStreams(KeysOf(known)), std::back_inserter(calls));
  auto rows = connection.QueryTogether(calls);
  if (!rows) return rows.error();
  auto numbers = NodeNumbers(rows->front());
  if (numbers.size() < nodes.size()) return false;
  for (Stream* stream : known) {
    stream->key.node_id = numbers[{stream->key.job_id, stream->push->node}];
  }
  const std::vector<StreamKey> keys = KeysOf(known);
  if (make) {
    calls = {AddStreams(keys, now_us)};
    std::ranges::move(LockStreams(keys), std::back_inserter(calls));
    rows = connection.QueryTogether(calls);
    if (!rows) return rows.error();
  }
  const auto stands = StandsOf(keys, std::span(*rows).subspan(1));
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (!stands[i]) return false;
    known[i]->stand = *stands[i];
    known[i]->cursor = static_cast<std::uint64_t>(stands[i]->stored);
  }
  return true;
}

}  // namespace stepscope
