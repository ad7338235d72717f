#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/wire/frame.h"
#include "core/wire/table_codec.h"
#include "tests/support/span_tables.h"

namespace stepscope::test {

// A Friday in 2026.
inline constexpr std::int64_t kStartUs = 1'795'205'614'000'000;

inline std::string PushOf(const std::vector<std::string>& frames) {
  std::string push;
  for (const std::string& frame : frames) AppendToPush(push, frame);
  return push;
}

// Frames of one session with every field open to the test. Each call uses the next number.
struct FrameMaker {
  FrameHead head;

  explicit FrameMaker(std::string job, std::string node = "n1") {
    head.job = std::move(job);
    head.node = std::move(node);
    head.session = NewSession();
    head.created = FromMicros(kStartUs);
  }

  std::string Make(FrameKind kind, std::string payload, const Schema* schema = nullptr,
                   bool with_schema = true) {
    Frame frame;
    frame.head = head;
    frame.head.kind = kind;
    frame.head.sequence = ++head.sequence;
    if (schema) frame.head.schema_hash = HashSchema(*schema);
    if (schema && with_schema) frame.schema = *schema;
    frame.payload = std::move(payload);
    return EncodeFrame(frame);
  }

  std::string Lifecycle(const Json& json) { return Make(FrameKind::kLifecycle, Dump(json)); }
  std::string Started(const std::string& group = "") {
    return Lifecycle({{"event", "started"},
                      {"at_us", kStartUs},
                      {"group", group},
                      {"interval_ms", 500},
                      {"command", {"train"}},
                      {"facts", {{"cores", 2}, {"gpus", {{{"index", 0}}}}}}});
  }
  std::string Ended(int exit_code) {
    return Lifecycle({{"event", "ended"},
                      {"at_us", kStartUs + 9'000'000},
                      {"exit_code", exit_code},
                      {"output", {"last line"}}});
  }
  std::string Lost(std::uint64_t last) {
    const std::uint64_t first = head.sequence + 1;
    const std::string frame = Make(FrameKind::kLost, Dump(Json{{"first", first},
                                                               {"last", last},
                                                               {"reason", "dropped"},
                                                               {"from_us", kStartUs},
                                                               {"to_us", kStartUs},
                                                               {"samples", 5}}));
    head.sequence = last;
    return frame;
  }
  // `rows` ticks of 500 ms from a time on; the value tells frame and row.
  std::string Ticks(std::int64_t from_us, std::size_t rows = 4, bool with_schema = true) {
    const Schema schema{-1, {{"at_us", ""}, {"node_cpu_percent", ""}, {"user.loss", ""}}, {}};
    Table table{rows, std::vector<Column>(3)};
    table.columns[1].scale = 2;
    for (std::size_t row = 0; row < rows; ++row) {
      const auto at = static_cast<std::int64_t>(row);
      table.columns[0].values.push_back(from_us + at * 500'000);
      table.columns[1].values.push_back(static_cast<std::int64_t>(head.sequence + 1) * 100 + at);
      table.columns[2].values.push_back(at);
    }
    return Make(FrameKind::kTicks, EncodeTable(table), &schema, with_schema);
  }
  std::string Steps(int rank, std::int64_t from_us, std::int64_t first, std::size_t rows) {
    const Schema schema{rank, {{"step", ""}, {"start_us", ""}, {"wall_ns", ""}, {"data", ""}}, {}};
    Table table{rows, std::vector<Column>(4)};
    for (std::size_t row = 0; row < rows; ++row) {
      const auto at = static_cast<std::int64_t>(row);
      table.columns[0].values.push_back(first + at);
      table.columns[1].values.push_back(from_us + at * 100'000);
      table.columns[2].values.push_back(90'000'000);
      table.columns[3].values.push_back(45'000'000);
    }
    return Make(FrameKind::kSteps, EncodeTable(table), &schema);
  }
  std::string Spans(int rank, std::int64_t window, const std::vector<std::int64_t>& steps) {
    const SpanTable spans = SpansOf(rank, window, steps);
    return Make(FrameKind::kSpans, EncodeTable(spans.table), &spans.schema);
  }
  std::string Annotations(int rank, const std::string& name, std::int64_t sum_ns) {
    const Schema schema{rank,
                        {{"name", ""},
                         {"from_us", ""},
                         {"to_us", ""},
                         {"count", ""},
                         {"sum_ns", ""},
                         {"min_ns", ""},
                         {"max_ns", ""}},
                        {name}};
    Table table{1, std::vector<Column>(7)};
    const std::int64_t row[] = {0, kStartUs, kStartUs + 1, 2, sum_ns, sum_ns / 4, sum_ns / 2};
    for (std::size_t i = 0; i < 7; ++i) table.columns[i].values.push_back(row[i]);
    return Make(FrameKind::kAnnotations, EncodeTable(table), &schema);
  }
};

}  // namespace stepscope::test
