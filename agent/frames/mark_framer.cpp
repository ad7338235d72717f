// MarkFramer of framer.h.

#include <algorithm>

#include "agent/frames/framer.h"
#include "agent/frames/lifecycle.h"
#include "core/base/text.h"
#include "core/model/span_table.h"
#include "core/wire/table_codec.h"

namespace stepscope {
namespace {

constexpr std::size_t kLongestName = 63;
constexpr std::size_t kMostNames = 4096;
constexpr std::size_t kMostSpans = 8'192;       // in a frame: half the rows of the largest table
constexpr std::size_t kMostStatistics = 8'192;  // in a frame: half the rows of the largest table

std::int64_t EndOf(const Step& step) {
  return ToMicros(step.start + step.wall);
}

Table Empty(std::size_t rows, std::size_t columns) {
  Table table;
  table.rows = rows;
  table.columns.resize(columns);
  for (Column& column : table.columns) column.values.reserve(rows);
  return table;
}

Schema SchemaOf(std::int32_t rank, std::initializer_list<const char*> columns) {
  Schema schema;
  schema.rank = rank;
  for (const char* column : columns) schema.columns.push_back({column, ""});
  return schema;
}

std::string ShortName(const std::string& name) {
  // A character cut in two is dropped as a whole.
  std::size_t size = std::min(name.size(), kLongestName);
  while (size > 0 && size < name.size() && (name[size] & 0xc0) == 0x80) --size;
  return name.substr(0, size);
}

// Rows of one name are next to each other.
std::size_t NamesIn(std::span<const AnnotationStatistic> statistics) {
  std::size_t names = 0;
  for (std::size_t i = 0; i < statistics.size(); ++i) {
    if (i == 0 || statistics[i].name != statistics[i - 1].name) ++names;
  }
  return names;
}

bool Occurs(std::span<const Step> steps, std::size_t time) {
  return std::ranges::any_of(steps, [time](const Step& step) {
    const auto length = StepTime(step, time);
    return length && (*length > 0ns || time == kGpuIdleTime);
  });
}

}  // namespace

void MarkFramer::Add(const IntakeBatch& batch) {
  const auto say = [this](std::string json) {
    stream_.Append({.kind = FrameKind::kLifecycle, .payload = std::move(json)});
  };
  for (const RankRegistration& rank : batch.rank_started) say(RankEvent(rank));
  for (const RankMarks& marks : batch.marks) {
    AddSteps(marks.rank, marks.steps);
    for (std::span<const AnnotationStatistic> left = marks.annotations; !left.empty();) {
      const std::size_t some = std::min(left.size(), kMostStatistics);
      AddAnnotations(marks.rank, left.first(some));
      left = left.subspan(some);
    }
    AddSpans(marks.rank, marks.spans);
  }
  for (const RankEnd& rank : batch.rank_ended) say(RankEndedEvent(rank));
  // The window's end comes after its spans, so a reader of the end has them all.
  if (batch.window_ended) say(AnsweredEvent(*batch.window_ended));
}

void MarkFramer::AddSteps(std::int32_t rank, const std::vector<Step>& steps) {
  if (steps.empty()) return;
  std::vector<std::size_t>& times = ranks_[rank].times;
  for (std::size_t i = 0; i < kStepTimes; ++i) {
    if (Occurs(steps, i) && std::ranges::find(times, i) == times.end()) times.push_back(i);
  }
  Schema schema = SchemaOf(rank, {"step", "start_us", "wall_ns"});
  for (const std::size_t time : times)
    schema.columns.push_back({std::string(StepTimeName(time)), ""});
  Table table = Empty(steps.size(), 3);
  for (const Step& step : steps) {
    table.columns[0].values.push_back(step.number);
    table.columns[1].values.push_back(ToMicros(step.start));
    table.columns[2].values.push_back(step.wall.count());
  }
  for (const std::size_t time : times) table.columns.push_back(StepTimeColumn(steps, time));
  stream_.Append({.kind = FrameKind::kSteps,
                  .payload = EncodeTable(table),
                  .schema = &schema,
                  .schema_hash = HashSchema(schema),
                  .from_us = ToMicros(std::ranges::min(steps, {}, &Step::start).start),
                  .to_us = EndOf(std::ranges::max(steps, {}, EndOf)),
                  .samples = steps.size()});
}

void MarkFramer::AddAnnotations(std::int32_t rank,
                                std::span<const AnnotationStatistic> statistics) {
  if (statistics.empty()) return;
  Rank& state = ranks_[rank];
  if (state.names.size() + NamesIn(statistics) > kMostNames)
    state.names.clear(), state.index_of_name.clear();
  Table table = Empty(statistics.size(), 7);
  std::int64_t from_us = INT64_MAX, to_us = 0;
  for (const AnnotationStatistic& one : statistics) {
    const auto [place, added] =
        state.index_of_name.emplace(ShortName(one.name), state.names.size());
    if (added) state.names.push_back(place->first);
    const std::int64_t row[] = {place->second, one.from_us, one.to_us, one.count,
                                one.sum_ns,    one.min_ns,  one.max_ns};
    for (std::size_t i = 0; i < std::size(row); ++i) table.columns[i].values.push_back(row[i]);
    from_us = std::min(from_us, one.from_us);
    to_us = std::max(to_us, one.to_us);
  }
  Schema schema =
      SchemaOf(rank, {"name", "from_us", "to_us", "count", "sum_ns", "min_ns", "max_ns"});
  schema.names = state.names;
  stream_.Append({.kind = FrameKind::kAnnotations,
                  .payload = EncodeTable(table),
                  .schema = &schema,
                  .schema_hash = HashSchema(schema),
                  .from_us = from_us,
                  .to_us = to_us,
                  .samples = statistics.size()});
}

void MarkFramer::AddSpans(std::int32_t rank, const RankSpans& spans) {
  Schema schema{rank, {}, {}};
  for (const std::string_view column : kSpanColumns) {
    schema.columns.push_back({std::string(column), ""});
  }
  for (const std::string& name : spans.names) schema.names.push_back(ShortName(name));
  const std::uint64_t hash = HashSchema(schema);
  for (std::span<const WindowSpan> left = spans.rows; !left.empty();) {
    const auto some = left.first(std::min(left.size(), kMostSpans));
    left = left.subspan(some.size());
    Table table = Empty(some.size(), std::size(kSpanColumns));
    std::int64_t from_ns = INT64_MAX, to_ns = 0;
    for (const WindowSpan& span : some) {
      const std::int64_t row[] = {spans.window_id, span.name,     span.process,    span.thread,
                                  span.step,       span.start_ns, span.duration_ns};
      for (std::size_t i = 0; i < std::size(row); ++i) table.columns[i].values.push_back(row[i]);
      from_ns = std::min(from_ns, span.start_ns);
      to_ns = std::max(to_ns, span.start_ns + span.duration_ns);
    }
    stream_.Append({.kind = FrameKind::kSpans,
                    .payload = EncodeTable(table),
                    .schema = &schema,
                    .schema_hash = hash,
                    .from_us = from_ns / 1'000,
                    .to_us = to_ns / 1'000,
                    .samples = some.size()});
  }
}

}  // namespace stepscope
