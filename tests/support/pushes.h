#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/wire/frame.h"
#include "core/wire/table_codec.h"
#include "tests/support/span_tables.h"

namespace stepscope {

// The frames of one agent, in the order of its session.
class TestAgent {
 public:
  explicit TestAgent(std::string job, std::string node = "host-1")
      : job_(std::move(job)), node_(std::move(node)), session_(NewSession()) {}

  std::string Lifecycle(const Json& payload) {
    return One(FrameKind::kLifecycle, std::nullopt, Dump(payload));
  }
  std::string Started(std::int64_t at_us) {
    return Lifecycle({{"event", "started"},
                      {"at_us", at_us},
                      {"group", "tests"},
                      {"interval_ms", 500},
                      {"command", {"train"}},
                      {"facts", {{"cores", 2}, {"memory_bytes", 1024}, {"gpus", Json::array()}}}});
  }
  // The start of an agent that allows these commands; null: an old agent, which does not send the
  // field.
  std::string StartedAllowing(const Json& allows, std::int64_t at_us) {
    Json facts = {{"cores", 2}, {"memory_bytes", 1024}, {"gpus", Json::array()}};
    if (!allows.is_null()) facts["allows"] = allows;
    return Lifecycle({{"event", "started"},
                      {"at_us", at_us},
                      {"command", {"train"}},
                      {"interval_ms", 500},
                      {"facts", facts}});
  }
  std::string Rank(std::int64_t at_us, int rank) {
    return Lifecycle({{"event", "rank"},
                      {"at_us", at_us},
                      {"rank", rank},
                      {"facts", {{"pid", 4711}, {"framework", "numpy"}}}});
  }
  std::string Ended(std::int64_t at_us, int exit_code) {
    return Lifecycle({{"event", "ended"},
                      {"at_us", at_us},
                      {"exit_code", exit_code},
                      {"output", {"last words"}}});
  }

  // One value of node_cpu_percent at each time, with two decimals.
  std::string Ticks(const std::vector<std::int64_t>& at_us, const std::vector<double>& percent) {
    Table table{.rows = at_us.size(), .columns = {{.scale = 0, .values = at_us, .present = {}}}};
    Column column{.scale = 2, .values = {}, .present = {}};
    for (const double value : percent) column.values.push_back(ToScaled(value, 2));
    table.columns.push_back(column);
    const Schema schema{
        .rank = -1, .columns = {{"at_us", ""}, {"node_cpu_percent", ""}}, .names = {}};
    return One(FrameKind::kTicks, schema, EncodeTable(table));
  }

  // Steps without gaps from a time on; each with a share of its wall time in phase data.
  std::string Steps(int rank, std::int64_t from_us, const std::vector<std::int64_t>& wall_ms,
                    double data_share, std::int64_t first = 1) {
    Table table{.rows = wall_ms.size(), .columns = std::vector<Column>(4)};
    for (std::size_t at = 0; at < wall_ms.size(); ++at) {
      const std::int64_t wall_ns = wall_ms[at] * 1'000'000;
      table.columns[0].values.push_back(first + static_cast<std::int64_t>(at));
      table.columns[1].values.push_back(from_us);
      table.columns[2].values.push_back(wall_ns);
      table.columns[3].values.push_back(static_cast<std::int64_t>(double(wall_ns) * data_share));
      from_us += wall_ms[at] * 1'000;
    }
    const Schema schema{.rank = rank,
                        .columns = {{"step", ""}, {"start_us", ""}, {"wall_ns", ""}, {"data", ""}},
                        .names = {}};
    return One(FrameKind::kSteps, schema, EncodeTable(table));
  }

  std::string Spans(int rank, std::int64_t window, const std::vector<std::int64_t>& steps) {
    const test::SpanTable spans = test::SpansOf(rank, window, steps);
    return One(FrameKind::kSpans, spans.schema, EncodeTable(spans.table));
  }

  std::uint64_t sequence() const { return sequence_; }
  void Skip() { ++sequence_; }

 private:
  std::string One(FrameKind kind, std::optional<Schema> schema, std::string payload) {
    Frame frame;
    frame.head.kind = kind;
    frame.head.session = session_;
    frame.head.sequence = ++sequence_;
    frame.head.created = FromMicros(1'795'205'614'000'000);
    frame.head.job = job_;
    frame.head.node = node_;
    if (schema) frame.head.schema_hash = HashSchema(*schema);
    frame.schema = std::move(schema);
    frame.payload = std::move(payload);
    std::string push;
    AppendToPush(push, EncodeFrame(frame));
    return push;
  }

  const std::string job_, node_;
  const Session session_;
  std::uint64_t sequence_ = 0;
};

}  // namespace stepscope
