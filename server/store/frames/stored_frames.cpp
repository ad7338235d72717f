#include "server/store/frames/stored_frames.h"

#include <algorithm>
#include <map>
#include <span>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kPayloadsAtOnce = 256;

constexpr char kList[] = R"(
select node_id, rank, from_us, to_us, rows, sequence, schema_hash, clock_suspect, session
from frames
where job_id = $1 and kind = $2 and ($3::bigint is null or node_id = $3)
    and (cardinality($4::bigint[]) = 0 or rank = any($4::bigint[])) and to_us > $5 and from_us <= $6
order by from_us, session, sequence
limit 500000)";
constexpr char kListOfNode[] = R"(
select node_id, rank, from_us, to_us, rows, sequence, schema_hash, clock_suspect, session
from frames
where job_id = $1 and kind = $2 and node_id = $3 and to_us > $4 and from_us <= $5
order by from_us, session, sequence
limit 500000)";
constexpr char kPayloads[] = R"(
select place, payload
from unnest($2::bytea[], $3::bigint[]) with ordinality as wanted (session, sequence, place)
cross join lateral (
    select payload
    from frames
    where job_id = $1 and session = wanted.session and sequence = wanted.sequence
    limit 1) as f
order by place
limit 1000)";
// The bounds say which part of the index is read, whenever this is planned.
constexpr char kDelete[] = R"(
delete from frames
where job_id = $1 and session = $2 and sequence between $3 and $4
    and sequence = any($5::bigint[]))";
constexpr char kSchemas[] = R"(
select schema_hash, content
from schemas
where job_id = $1 and schema_hash = any($2::bigint[])
order by schema_hash
limit 100000)";

// The keys as two arrays.
std::pair<std::vector<std::string_view>, std::vector<std::int64_t>> NamesOf(
    std::span<const FrameKey> keys) {
  std::pair<std::vector<std::string_view>, std::vector<std::int64_t>> names;
  for (const FrameKey& key : keys) {
    names.first.push_back(key.session);
    names.second.push_back(key.sequence);
  }
  return names;
}

// In the order of the keys; "" for a frame that is gone.
Result<std::vector<std::string>> LoadPayloads(Connection& connection, std::int64_t job_id,
                                              const std::vector<FrameKey>& keys, std::size_t from,
                                              std::size_t count) {
  const auto [sessions, sequences] = NamesOf(std::span(keys).subspan(from, count));
  const Result<Rows> rows = connection.QueryByKey(
      kPayloads, {job_id, Parameter::BytesArray(sessions), Parameter::Array(sequences)});
  if (!rows) return rows.error();
  std::vector<std::string> payloads(count);
  for (std::size_t i = 0; i < rows->size(); ++i) {
    payloads[static_cast<std::size_t>(rows->Int(i, 0)) - 1] = rows->Bytes(i, 1);
  }
  return payloads;
}

}  // namespace

Result<std::vector<FrameKey>> ListFrames(Connection& connection, const FrameQuery& query) {
  const int kind = static_cast<int>(query.kind);
  const Result<Rows> rows =
      query.node_id && query.ranks.empty()
          ? connection.QueryByKey(
                kListOfNode, {query.job_id, kind, *query.node_id, query.after_us, query.until_us})
          : connection.Query(kList,
                             {query.job_id, kind, query.node_id, Parameter::Array(query.ranks),
                              query.after_us, query.until_us});
  if (!rows) return rows.error();
  std::vector<FrameKey> keys;
  keys.reserve(rows->size());
  for (std::size_t i = 0; i < rows->size(); ++i) {
    keys.push_back({rows->Int(i, 0), rows->Int(i, 1), rows->Int(i, 2), rows->Int(i, 3),
                    rows->Int(i, 4), rows->Int(i, 5), rows->Int(i, 6), rows->Bool(i, 7),
                    rows->Bytes(i, 8)});
  }
  return keys;
}

FrameChoice ChooseFrames(const std::vector<FrameKey>& keys, std::size_t most_rows,
                         std::int64_t after_us) {
  FrameChoice choice;
  std::size_t rows = 0;
  for (; choice.count < keys.size(); ++choice.count) {
    const std::int64_t from_us = keys[choice.count].from_us;
    const bool forward = choice.count > 0 && from_us > after_us && from_us > keys[0].from_us;
    if (rows > most_rows && forward) {
      choice.complete_before_us = from_us;
      choice.all = false;
      return choice;
    }
    rows += static_cast<std::size_t>(keys[choice.count].rows);
  }
  if (keys.size() >= kMostFramesListed) {
    choice.complete_before_us = keys.back().from_us;
    choice.all = false;
  }
  return choice;
}

Error TooManyFrames() {
  return Unavailable(
      Format("more than {} frames of the job wait for the compactor; ask for a shorter range, or "
             "again when it has caught up",
             kMostFramesListed));
}

Result<std::size_t> DeleteFrames(Connection& connection, std::int64_t job_id,
                                 const std::vector<FrameKey>& keys, std::size_t count) {
  std::map<std::string_view, std::vector<std::int64_t>> sequences;  // by session
  for (const FrameKey& key : std::span(keys).first(count)) {
    sequences[key.session].push_back(key.sequence);
  }
  std::size_t gone = 0;
  for (const auto& [session, some] : sequences) {
    const auto [first, last] = std::ranges::minmax(some);
    const Result<Rows> deleted = connection.QueryByKey(
        kDelete, {job_id, Parameter::Bytes(session), first, last, Parameter::Array(some)});
    if (!deleted) return deleted.error();
    gone += static_cast<std::size_t>(deleted->affected());
  }
  return gone;
}

Result<Schemas> LoadSchemas(Connection& connection, std::int64_t job_id,
                            const std::set<std::int64_t>& hashes) {
  if (hashes.empty()) return Schemas{};
  const std::vector<std::int64_t> wanted(hashes.begin(), hashes.end());
  const Result<Rows> rows = connection.QueryByKey(kSchemas, {job_id, Parameter::Array(wanted)});
  if (!rows) return rows.error();
  Schemas schemas;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    Result<Schema> schema = DecodeSchema(rows->Bytes(i, 1));
    if (!schema) return Internal("schema: " + schema.error().message);
    schemas.emplace(rows->Int(i, 0), std::move(*schema));
  }
  return schemas;
}

Result<Schemas> LoadSchemas(Connection& connection, std::int64_t job_id,
                            const std::vector<FrameKey>& keys, std::size_t count) {
  std::set<std::int64_t> hashes;
  for (std::size_t i = 0; i < count; ++i) hashes.insert(keys[i].schema_hash);
  return LoadSchemas(connection, job_id, hashes);
}

Status ForEachFrame(Connection& connection, std::int64_t job_id, const std::vector<FrameKey>& keys,
                    std::size_t count, const Schemas& schemas, const TakeFrame& take) {
  for (std::size_t from = 0; from < count; from += kPayloadsAtOnce) {
    const std::size_t some = std::min(kPayloadsAtOnce, count - from);
    const auto payloads = LoadPayloads(connection, job_id, keys, from, some);
    if (!payloads) return payloads.error();
    for (std::size_t i = 0; i < some; ++i) {
      const auto schema = schemas.find(keys[from + i].schema_hash);
      const Status taken =
          take(schema == schemas.end() ? nullptr : &schema->second, (*payloads)[i]);
      if (!taken) return taken;
    }
  }
  return {};
}

}  // namespace stepscope
