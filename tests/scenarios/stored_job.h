#pragma once

// A made job in a real database, stored piece by piece as agents would push it.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/text.h"
#include "core/wire/frame.h"
#include "core/wire/table_codec.h"
#include "rules/catalog/catalog.h"
#include "server/store/frames/streams.h"
#include "server/store/jobs/job_change.h"
#include "server/store/jobs/job_facts.h"
#include "server/store/jobs/jobs.h"
#include "server/store/rules/create_job.h"
#include "tests/scenarios/scenario.h"

namespace stepscope::scenarios {

class StoredJob {
 public:
  // Creates the job with a rule for each row of the catalog; `parameters` by rule name.
  StoredJob(stepscope::Connection& connection, const Job& job,
            const Json& parameters = Json::object(), const std::string& name = "train")
      : connection_(connection), job_(job) {
    NewJob made;
    made.name = name;
    made.configuration = {{"interval_ms", 500}};
    for (const RuleType& rule : Catalog()) {
      const std::string rule_name(rule.name);
      const Json given = parameters.value(rule_name, Json::object());
      made.rules.push_back({rule_name, rule_name, *CompleteParameters(rule, given)});
    }
    job_id_ = CreateJob(connection_, made, kOriginUs)->job.job_id;
    if (job_.facts.started) {
      EXPECT_TRUE(*JobStarted(connection_, job_id_, kOriginUs));
    }
    AddNodes();
    AddRanks();
    ticks_.resize(job_.nodes.size());
    steps_.resize(job_.ranks.size());
  }

  std::int64_t job_id() const { return job_id_; }
  std::int64_t node_id(std::size_t node) const { return node_ids_[node]; }

  // Stores all data before `end`: ticks, and steps that ended.
  void StoreUntil(Time end) {
    for (std::size_t i = 0; i < job_.ranks.size(); ++i) StoreSteps(i, end);
    for (std::size_t i = 0; i < job_.nodes.size(); ++i) StoreTicks(i, end);
  }

  void StoreTicks(std::size_t node, Time end) {
    const NodeTicks& ticks = job_.nodes[node];
    while (ticks_[node] < ticks.at_us.size() && ticks.at_us[ticks_[node]] < ToMicros(end)) {
      std::size_t to = ticks_[node];
      while (to < ticks.at_us.size() && ticks.at_us[to] < ToMicros(end) &&
             to - ticks_[node] < 600) {
        ++to;
      }
      StoreTicks(node, ticks_[node], to);
      ticks_[node] = to;
    }
  }

  void StoreSteps(std::size_t rank, Time end) {
    const RankSteps& from = job_.ranks[rank];
    Table table{0, std::vector<Column>(4)};
    for (; steps_[rank] < from.steps.size(); ++steps_[rank]) {
      const Step& step = from.steps[steps_[rank]];
      if (step.start + step.wall >= end) break;
      const std::int64_t row[] = {step.number, ToMicros(step.start), step.wall.count(),
                                  step.phase(Phase::kData).count()};
      for (std::size_t i = 0; i < 4; ++i) table.columns[i].values.push_back(row[i]);
      ++table.rows;
    }
    Schema schema{from.rank, {{"step", ""}, {"start_us", ""}, {"wall_ns", ""}, {"data", ""}}, {}};
    Store(rank % job_.nodes.size(), FrameKind::kSteps, schema, table, 1);
  }

  void EndNode(std::size_t node) {
    Run("update nodes set ended_us = last_seen_us, exit_code = 0 where node_id = $1",
        {node_ids_[node]});
  }
  void EndJob(JobStatus status = JobStatus::kCompleted) {
    for (std::size_t i = 0; i < node_ids_.size(); ++i) EndNode(i);
    JobChange change;
    change.status = status;
    change.secondary_status = std::string(stepscope::ToText(status));
    change.at_us = change.now_us = kOriginUs + 9'000'000'000;
    EXPECT_TRUE(ChangeJob(connection_, job_id_, change, "http://here").ok());
  }
  // The time at which the service last received data of the node.
  void Seen(std::size_t node, Time at, std::int64_t clock_offset_us = 0) {
    Run("update nodes set last_seen_us = $2, clock_offset_us = $3 where node_id = $1",
        {node_ids_[node], ToMicros(at), clock_offset_us});
  }

 private:
  void Run(const std::string& sql, std::initializer_list<Parameter> parameters) {
    const auto rows = connection_.Query(sql, parameters);
    EXPECT_TRUE(rows.ok()) << rows.error().message;
  }

  void AddNodes() {
    std::vector<NodeSeen> seen;
    for (const NodeTicks& node : job_.nodes) seen.push_back({job_id_, node.node, kOriginUs, 0, 0});
    const auto numbers = NodeNumbers(
        connection_.QueryTogether(std::vector{stepscope::AddNodes(seen), SeeNodes(seen)})
            .value()
            .back());
    for (const NodeSeen& node : seen) node_ids_.push_back(numbers.at({job_id_, node.name}));
    for (std::size_t i = 0; i < node_ids_.size(); ++i) {
      const Json facts = {{"cores", job_.facts.nodes[i].cores},
                          {"gpus", Json(job_.facts.nodes[i].gpus, Json::object())}};
      Run("update nodes set facts = $2 where node_id = $1", {node_ids_[i], Dump(facts)});
    }
  }

  void AddRanks() {
    for (std::size_t i = 0; i < job_.ranks.size(); ++i) {
      Run("insert into ranks (job_id, rank, node_id, first_seen_us) values ($1, $2, $3, $4)",
          {job_id_, job_.ranks[i].rank, node_ids_[i % node_ids_.size()], kOriginUs});
    }
  }

  void StoreTicks(std::size_t node, std::size_t from, std::size_t to) {
    const NodeTicks& ticks = job_.nodes[node];
    Schema schema{-1, {{"at_us", ""}}, {}};
    Table table{to - from,
                {{0,
                  {ticks.at_us.begin() + static_cast<std::ptrdiff_t>(from),
                   ticks.at_us.begin() + static_cast<std::ptrdiff_t>(to)},
                  {}}}};
    for (std::size_t i = 0; i < ticks.series.size(); ++i) {
      schema.columns.push_back(ticks.series[i]);
      Column column{ticks.columns[i].scale, {}, {}};
      for (std::size_t row = from; row < to; ++row) {
        column.values.push_back(ticks.columns[i].values[row]);
        column.present.push_back(ticks.columns[i].present[row]);
      }
      table.columns.push_back(std::move(column));
    }
    Store(node, FrameKind::kTicks, schema, table, 0);
  }

  // `time` is the column with the rows' times.
  void Store(std::size_t node, FrameKind kind, const Schema& schema, const Table& table,
             std::size_t time) {
    if (table.rows == 0) return;
    const std::string payload = EncodeTable(table), content = EncodeSchema(schema);
    const auto hash = static_cast<std::int64_t>(std::hash<std::string>()(content));
    const NewSchema made{job_id_, hash, content};
    EXPECT_TRUE(connection_.QueryByKey(InsertSchemas({&made, 1})).ok());
    const std::string session = job_.nodes[node].node;
    NewFrame frame;
    frame.job_id = job_id_;
    frame.node_id = node_ids_[node];
    frame.sequence = ++sequence_;
    frame.schema_hash = hash;
    frame.from_us = table.columns[time].values.front();
    frame.to_us = table.columns[time].values.back();
    frame.rows = static_cast<std::int64_t>(table.rows);
    frame.kind = kind;
    frame.rank = schema.rank;
    frame.session = session;
    frame.payload = payload;
    EXPECT_TRUE(connection_.QueryByKey(InsertFrames({&frame, 1})).ok());
  }

  stepscope::Connection& connection_;
  const Job& job_;
  std::int64_t job_id_ = 0, sequence_ = 0;
  std::vector<std::int64_t> node_ids_;
  std::vector<std::size_t> ticks_, steps_;  // ticks and steps stored so far
};

}  // namespace stepscope::scenarios
