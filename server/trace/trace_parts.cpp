#include "server/trace/trace_parts.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/wire/compress.h"
#include "core/wire/table_codec.h"

namespace stepscope {
namespace {

// The columns of a table of spans; all of them are of one track.
template <typename Rows>
Table SpanTable(const Rows& spans, std::size_t begin, std::size_t end) {
  Table table{.rows = end - begin, .columns = std::vector<Column>(8)};
  for (Column& column : table.columns) column.values.reserve(table.rows);
  for (std::size_t i = begin; i < end; ++i) {
    const TraceSpan& span = spans[i];
    const std::int64_t values[] = {
        span.start_ns, span.duration_ns, span.name, span.correlation,
        span.external, span.detail,      span.step, static_cast<std::int64_t>(span.kind)};
    for (std::size_t c = 0; c < std::size(values); ++c) {
      table.columns[c].values.push_back(values[c]);
    }
  }
  return table;
}

TracePart SpanPart(const Trace& trace, std::size_t begin, std::size_t end, std::int64_t number) {
  TracePart part{.part = "spans", .payload = {}};
  part.track = trace.spans[begin].track;
  part.number = number;
  part.from_ns = trace.spans[begin].start_ns;
  for (std::size_t i = begin; i < end; ++i) {
    part.to_ns = std::max(part.to_ns, trace.spans[i].end_ns());
  }
  part.size = static_cast<std::int64_t>(end - begin);
  part.payload = EncodeTable(SpanTable(trace.spans, begin, end));
  return part;
}

void AddSpans(const Trace& trace, std::vector<TracePart>& parts) {
  std::int64_t number = 0;
  for (std::size_t begin = 0; begin < trace.spans.size();) {
    const std::uint16_t track = trace.spans[begin].track;
    std::size_t end = begin;
    while (end < trace.spans.size() && end - begin < kPartRows && trace.spans[end].track == track) {
      ++end;
    }
    const bool goes_on = begin > 0 && trace.spans[begin - 1].track == track;
    number = goes_on ? number + 1 : 0;
    parts.push_back(SpanPart(trace, begin, end, number));
    begin = end;
  }
}

// As JSON arrays of texts.
void AddNames(const Trace& trace, std::vector<TracePart>& parts) {
  for (std::size_t begin = 0; begin < trace.names.size(); begin += kPartNames) {
    Json names = Json::array();
    const std::size_t end = std::min(trace.names.size(), begin + kPartNames);
    for (std::size_t i = begin; i < end; ++i) names.push_back(trace.names[i]);
    parts.push_back(EncodeText("names", Dump(names)));
    parts.back().number = static_cast<std::int64_t>(begin / kPartNames);
  }
}

template <typename Rows, typename Fields>
void AddTable(const char* part, const Rows& rows, const Fields& fields,
              std::vector<TracePart>& parts) {
  for (std::size_t begin = 0, number = 0; begin < rows.size(); begin += kPartRows, ++number) {
    Table table;
    table.rows = std::min(kPartRows, rows.size() - begin);
    for (std::size_t i = begin; i < begin + table.rows; ++i) {
      const auto values = fields(rows[i]);
      table.columns.resize(values.size());
      for (std::size_t c = 0; c < values.size(); ++c) {
        table.columns[c].values.push_back(values[c]);
      }
    }
    parts.push_back({.part = part,
                     .number = static_cast<std::int64_t>(number),
                     .size = static_cast<std::int64_t>(table.rows),
                     .payload = EncodeTable(table)});
  }
}

std::vector<std::int64_t> FieldsOf(const SpanDetail& detail) {
  return {detail.bytes,       detail.occupancy,    detail.grid,       detail.block,
          detail.shapes,      detail.types,        detail.collective, detail.group,
          detail.in_elements, detail.out_elements, detail.group_size, detail.graph};
}

std::vector<std::int64_t> FieldsOf(const MemoryEvent& event) {
  return {event.at_ns, event.bytes, event.allocated, event.reserved, event.device, event.track};
}

}  // namespace

std::vector<TracePart> EncodeParts(const Trace& trace) {
  std::vector<TracePart> parts;
  AddSpans(trace, parts);
  AddNames(trace, parts);
  const auto fields = [](const auto& row) { return FieldsOf(row); };
  AddTable("details", trace.details, fields, parts);
  AddTable("memory", trace.memory, fields, parts);
  return parts;
}

TracePart EncodeText(std::string part, std::string_view text) {
  return {.part = std::move(part),
          .size = static_cast<std::int64_t>(text.size()),
          .payload = Compress(text)};
}

Result<std::string> DecodeText(std::string_view payload, std::int64_t size) {
  constexpr std::int64_t kMostText = 64 * 1024 * 1024;
  if (size < 0 || size > kMostText) return Invalid("a part of a trace: too large");
  return Decompress(payload, static_cast<std::size_t>(size));
}

Result<std::vector<std::string>> DecodeNames(std::string_view payload, std::int64_t size) {
  const Result<std::string> text = DecodeText(payload, size);
  if (!text) return text.error();
  const auto json = ParseJson(*text, {.bytes = 16 * 1024 * 1024, .values = kPartNames + 2});
  if (!json || !json->is_array()) return Invalid("a part of a trace: no names");
  std::vector<std::string> names;
  for (const Json& name : *json) {
    names.push_back(name.is_string() ? name.get<std::string>() : std::string());
  }
  return names;
}

Result<std::vector<SpanDetail>> DecodeDetails(std::string_view payload) {
  const Result<Table> table = DecodeTable(payload, {.rows = kPartRows});
  if (!table) return table.error();
  if (table->columns.size() != FieldsOf(SpanDetail{}).size()) {
    return Invalid("a part of a trace: not a table of details");
  }
  std::vector<SpanDetail> details(table->rows);
  for (std::size_t i = 0; i < details.size(); ++i) {
    const auto at = [&](std::size_t column) { return table->columns[column].values[i]; };
    const auto name = [&](std::size_t column) { return static_cast<std::uint32_t>(at(column)); };
    details[i] = {.bytes = at(0),
                  .occupancy = static_cast<std::int32_t>(at(1)),
                  .grid = name(2),
                  .block = name(3),
                  .shapes = name(4),
                  .types = name(5),
                  .collective = name(6),
                  .group = name(7),
                  .in_elements = at(8),
                  .out_elements = at(9),
                  .group_size = at(10),
                  .graph = at(11)};
  }
  return details;
}

Result<std::vector<TraceSpan>> DecodeSpans(std::string_view payload, std::uint16_t track) {
  const Result<Table> table = DecodeTable(payload, {.rows = kPartRows});
  if (!table) return table.error();
  if (table->columns.size() != 8) return Invalid("a part of a trace: not a table of spans");
  const auto at = [&](std::size_t column, std::size_t row) {
    return table->columns[column].values[row];
  };
  std::vector<TraceSpan> spans(table->rows);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    TraceSpan& span = spans[i];
    span.start_ns = at(0, i);
    span.duration_ns = at(1, i);
    span.name = static_cast<std::uint32_t>(at(2, i));
    span.correlation = static_cast<std::uint32_t>(at(3, i));
    span.external = static_cast<std::uint32_t>(at(4, i));
    span.detail = static_cast<std::uint32_t>(at(5, i));
    span.step = static_cast<std::int32_t>(at(6, i));
    span.kind = static_cast<SpanKind>(
        std::clamp<std::int64_t>(at(7, i), 0, static_cast<std::int64_t>(SpanKind::kOther)));
    span.track = track;
  }
  return spans;
}

}  // namespace stepscope
