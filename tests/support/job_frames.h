#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "server/store/annotations/span_blocks.h"
#include "server/store/frames/streams.h"
#include "server/store/jobs/jobs.h"
#include "server/store/jobs/window_answers.h"
#include "server/store/rules/create_job.h"
#include "server/store/ticks/tick_table.h"

namespace stepscope {

// A job with one node, and frames in its store as ingest would write them.
class JobFrames {
 public:
  explicit JobFrames(Connection& connection, const std::string& name = "train")
      : connection_(connection) {
    NewJob job;
    job.name = name;
    job_id_ = CreateJob(connection_, job, 1)->job.job_id;
    node_id_ = AddNode("n1");
  }
  std::int64_t job_id() const { return job_id_; }
  std::int64_t node_id() const { return node_id_; }

  std::int64_t AddNode(const std::string& name) {
    const NodeSeen node{job_id_, name, 1, 0, 0};
    const std::span<const NodeSeen> nodes(&node, 1);
    const auto rows = connection_.QueryTogether(std::vector{AddNodes(nodes), SeeNodes(nodes)});
    return NodeNumbers(rows.value().back()).at({job_id_, name});
  }
  // `time_column` is the column that orders the rows.
  void Store(FrameKind kind, const Schema& schema, const Table& table, std::size_t time_column,
             std::int64_t node_id) {
    const std::string payload = EncodeTable(table), content = EncodeSchema(schema);
    const auto hash = static_cast<std::int64_t>(HashSchema(schema));
    const std::vector<std::int64_t>& times = table.columns[time_column].values;
    NewFrame frame;
    frame.job_id = job_id_;
    frame.node_id = node_id;
    frame.sequence = ++sequence_;
    frame.schema_hash = hash;
    frame.from_us = std::ranges::min(times);
    frame.to_us = std::ranges::max(times);
    frame.rows = static_cast<std::int64_t>(table.rows);
    frame.kind = kind;
    frame.rank = schema.rank;
    frame.session = "sixteen bytes ok";
    frame.payload = payload;
    const NewSchema row{job_id_, hash, content};
    ASSERT_TRUE(connection_.QueryByKey(InsertSchemas(std::span(&row, 1))));
    const auto stored = connection_.QueryByKey(InsertFrames(std::span(&frame, 1)));
    ASSERT_TRUE(stored) << stored.error().message;
  }
  void Store(FrameKind kind, const Schema& schema, const Table& table, std::size_t time_column) {
    Store(kind, schema, table, time_column, node_id_);
  }
  void StoreTicks(const TickTable& ticks, std::int64_t node_id) {
    Schema schema{-1, {{"at_us", ""}}, {}};
    Table table{ticks.at_us.size(), {{0, ticks.at_us, {}}}};
    for (std::size_t i = 0; i < ticks.series.size(); ++i) {
      schema.columns.push_back(ticks.series[i]);
      table.columns.push_back(ticks.columns[i]);
    }
    Store(FrameKind::kTicks, schema, table, 0, node_id);
  }
  void StoreTicks(const TickTable& ticks) { StoreTicks(ticks, node_id_); }
  // Stores a series whose values are its times.
  void StoreTicks(const SeriesName& series, const std::vector<std::int64_t>& at_us,
                  std::uint8_t scale = 0) {
    StoreTicks({at_us, {series}, {{scale, at_us, {}}}});
  }
  // Stores steps of {number, start_us}, 100 ns each, 40 of them phase data.
  void StoreSteps(int rank, const std::vector<std::pair<std::int64_t, std::int64_t>>& steps) {
    const Schema schema{rank, {{"step", ""}, {"start_us", ""}, {"wall_ns", ""}, {"data", ""}}, {}};
    Table table{steps.size(), std::vector<Column>(4)};
    for (const auto& [number, start_us] : steps) {
      table.columns[0].values.push_back(number);
      table.columns[1].values.push_back(start_us);
      table.columns[2].values.push_back(100);
      table.columns[3].values.push_back(40);
    }
    Store(FrameKind::kSteps, schema, table, 1);
  }
  // An annotation with one span, which ends a second after its start.
  struct Annotation {
    std::string name;
    std::int64_t from_us = 0, ns = 0;
  };
  void StoreAnnotations(int rank, const std::vector<Annotation>& rows) {
    Schema schema{rank, {}, {}};
    for (const char* column : {"name", "from_us", "to_us", "count", "sum_ns", "min_ns", "max_ns"}) {
      schema.columns.push_back({column, ""});
    }
    Table table{rows.size(), std::vector<Column>(7)};
    for (const Annotation& row : rows) {
      const auto name = static_cast<std::int64_t>(schema.names.size());
      schema.names.push_back(row.name);
      const std::int64_t cells[] = {name,   row.from_us, row.from_us + 1'000'000, 1, row.ns,
                                    row.ns, row.ns};
      for (std::size_t i = 0; i < 7; ++i) table.columns[i].values.push_back(cells[i]);
    }
    Store(FrameKind::kAnnotations, schema, table, 1);
  }
  // A window of one step with a span of a rank, which its agent has answered.
  void StoreSpans(int rank, std::int64_t at_us) {
    const std::string session = "sixteen bytes ok";
    const std::int64_t window_id = ++windows_;
    ASSERT_TRUE(connection_.Query("insert into windows values ($1, $2, 1, 1, $3, $3)",
                                  {job_id_, window_id, at_us}));
    ASSERT_TRUE(WindowAnswered(connection_, job_id_, node_id_, session,
                               {.window_id = window_id, .at_us = at_us, .recorded = true}));
    const NewSpanBlock block{.job_id = job_id_,
                             .window_id = window_id,
                             .sequence = ++sequence_,
                             .schema_hash = 1,
                             .from_us = at_us,
                             .to_us = at_us,
                             .rows = 1,
                             .rank = rank,
                             .session = session,
                             .payload = "a table"};
    ASSERT_TRUE(InsertSpanBlocks(connection_, std::span(&block, 1)));
  }

 private:
  Connection& connection_;
  std::int64_t job_id_ = 0, node_id_ = 0, sequence_ = 0, windows_ = 0;
};

}  // namespace stepscope
