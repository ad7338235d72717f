#include "server/trace/pixels.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/text.h"
#include "core/wire/bytes.h"
#include "core/wire/table_codec.h"

namespace stepscope {
namespace {

constexpr int kMostLevels = 12;
constexpr std::size_t kFewestCells = 1'024;  // in the widest level

// Time by name within one cell; few names meet in one.
class CellSums {
 public:
  void Add(std::uint32_t name, SpanKind kind, double ns) {
    busy_ += ns;
    for (Sum& sum : sums_) {
      if (sum.name == name && sum.kind == kind) {
        sum.ns += ns;
        return;
      }
    }
    if (sums_.size() < kMost) sums_.push_back({name, kind, ns});
  }

  BusyCell Take() {
    BusyCell cell{busy_, 0, SpanKind::kOther};
    const auto most = std::ranges::max_element(sums_, {}, &Sum::ns);
    if (most != sums_.end()) cell.name = most->name, cell.kind = most->kind;
    busy_ = 0;
    sums_.clear();
    return cell;
  }

 private:
  static constexpr std::size_t kMost = 64;
  struct Sum {
    std::uint32_t name;
    SpanKind kind;
    double ns;
  };
  double busy_ = 0;
  std::vector<Sum> sums_;
};

std::int64_t LengthOfTrace(const Trace& trace) {
  std::int64_t length = 0;
  for (const TraceSpan& span : trace.spans) length = std::max(length, span.end_ns());
  return length;
}

std::vector<BusyCell> Wider(const std::vector<BusyCell>& cells) {
  std::vector<BusyCell> wider;
  CellSums sums;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].busy_ns > 0) sums.Add(cells[i].name, cells[i].kind, cells[i].busy_ns);
    if (i % 4 == 3 || i + 1 == cells.size()) wider.push_back(sums.Take());
  }
  return wider;
}

void AddLevel(const std::vector<BusyCell>& cells, int log2, std::int64_t track,
              std::vector<TracePart>& parts) {
  for (std::size_t begin = 0, number = 0; begin < cells.size(); begin += kPartRows, ++number) {
    const std::size_t end = std::min(cells.size(), begin + kPartRows);
    Table table{.rows = end - begin, .columns = std::vector<Column>(3)};
    for (std::size_t i = begin; i < end; ++i) {
      table.columns[0].values.push_back(std::llround(cells[i].busy_ns));
      table.columns[1].values.push_back(cells[i].name);
      table.columns[2].values.push_back(static_cast<std::int64_t>(cells[i].kind));
    }
    parts.push_back({.part = LevelPart(log2),
                     .track = track,
                     .number = static_cast<std::int64_t>(number),
                     .from_ns = static_cast<std::int64_t>(begin) << log2,
                     .to_ns = static_cast<std::int64_t>(end) << log2,
                     .size = static_cast<std::int64_t>(table.rows),
                     .payload = EncodeTable(table)});
  }
}

// The share in 255ths; what is busy at all is at least one.
std::uint8_t ShareByte(const BusyCell& cell, double width_ns) {
  if (cell.busy_ns <= 0 || width_ns <= 0) return 0;
  const double share = cell.busy_ns / width_ns * 255;
  return static_cast<std::uint8_t>(std::clamp(std::round(share), 1.0, 255.0));
}

void PutNumber(std::string& bytes, std::uint64_t value, int size) {
  for (int i = 0; i < size; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xff);
}

void Align(std::string& bytes) {
  while (bytes.size() % 4 != 0) bytes += '\0';
}

}  // namespace

bool IsDrawn(SpanKind kind) {
  return IsDeviceWork(kind) || kind == SpanKind::kSync || kind == SpanKind::kOperator ||
         kind == SpanKind::kLaunch || kind == SpanKind::kOther;
}

std::vector<BusySegment> FlattenSpans(std::span<const TraceSpan> spans) {
  std::vector<BusySegment> segments;
  std::vector<const TraceSpan*> open;
  std::int64_t at = 0;
  const auto emit_until = [&](std::int64_t until) {
    if (until > at) {
      segments.push_back({at, until, open.back()->name, open.back()->kind});
      at = until;
    }
  };
  for (const TraceSpan& span : spans) {
    if (!IsDrawn(span.kind)) continue;
    while (!open.empty() && open.back()->end_ns() <= span.start_ns) {
      emit_until(open.back()->end_ns());
      open.pop_back();
    }
    if (!open.empty()) emit_until(span.start_ns);
    at = std::max(at, span.start_ns);
    open.push_back(&span);
  }
  while (!open.empty()) {
    emit_until(open.back()->end_ns());
    open.pop_back();
  }
  return segments;
}

std::vector<BusyCell> CellsOf(std::span<const BusySegment> segments, std::int64_t from_ns,
                              std::int64_t to_ns, std::size_t count) {
  std::vector<BusyCell> cells(count);
  if (count == 0 || to_ns <= from_ns) return cells;
  const double width = double(to_ns - from_ns) / double(count);
  const auto cell_at = [&](std::int64_t ns) {
    return std::min(count - 1, static_cast<std::size_t>(double(ns - from_ns) / width));
  };
  CellSums sums;
  std::size_t current = 0;
  bool any = false;
  const auto flush = [&] {
    if (any) cells[current] = sums.Take();
    any = false;
  };
  for (const BusySegment& segment : segments) {
    const std::int64_t begin = std::max(segment.begin_ns, from_ns);
    const std::int64_t end = std::min(segment.end_ns, to_ns);
    if (end <= begin) continue;
    for (std::size_t cell = cell_at(begin); cell <= cell_at(end - 1); ++cell) {
      const double left = double(from_ns) + width * double(cell);
      const double part = std::min(double(end), left + width) - std::max(double(begin), left);
      if (part <= 0) continue;
      if (cell != current) flush(), current = cell;
      sums.Add(segment.name, segment.kind, part);
      any = true;
    }
  }
  flush();
  return cells;
}

int LevelPlan::ForPixel(double pixel_ns) const {
  if (base_log2 < 0) return -1;
  int chosen = -1;
  for (int level = 0; level < count; ++level) {
    const int log2 = base_log2 + 2 * level;
    if (std::ldexp(1.0, log2) <= pixel_ns / 4) chosen = log2;
  }
  return chosen;
}

// The finest cell holds about four spans of the fullest track.
LevelPlan PlanLevels(const Trace& trace) {
  std::uint64_t most = 0;
  for (const TraceTrack& track : trace.tracks) most = std::max(most, track.spans);
  const std::int64_t length = LengthOfTrace(trace);
  if (most < kLevelSpans || length <= 0) return {};
  const std::uint64_t cell = std::max<std::uint64_t>(1, std::uint64_t(length) / (most / 4));
  LevelPlan plan{.base_log2 = static_cast<int>(std::bit_width(cell)) - 1, .count = 1};
  while (plan.count < kMostLevels &&
         std::uint64_t(length) >> (plan.base_log2 + 2 * plan.count) >= kFewestCells) {
    ++plan.count;
  }
  return plan;
}

std::string LevelPart(int log2) {
  return Format("level_{}", log2);
}

std::vector<TracePart> EncodeLevels(const Trace& trace, const LevelPlan& plan) {
  std::vector<TracePart> parts;
  if (plan.base_log2 < 0) return parts;
  const std::int64_t length = LengthOfTrace(trace);
  for (std::size_t begin = 0; begin < trace.spans.size();) {
    const std::uint16_t track = trace.spans[begin].track;
    std::vector<TraceSpan> spans;
    for (; begin < trace.spans.size() && trace.spans[begin].track == track; ++begin) {
      spans.push_back(trace.spans[begin]);
    }
    if (spans.size() < kLevelSpans) continue;
    const auto count = static_cast<std::size_t>(length >> plan.base_log2) + 1;
    std::vector<BusyCell> cells =
        CellsOf(FlattenSpans(spans), 0, static_cast<std::int64_t>(count) << plan.base_log2, count);
    for (int level = 0; level < plan.count; ++level) {
      AddLevel(cells, plan.base_log2 + 2 * level, track, parts);
      cells = Wider(cells);
    }
  }
  return parts;
}

Result<std::vector<BusyCell>> DecodeLevel(std::string_view payload) {
  const Result<Table> table = DecodeTable(payload, {.rows = kPartRows});
  if (!table) return table.error();
  if (table->columns.size() != 3) return Invalid("a part of a trace: not a level");
  std::vector<BusyCell> cells(table->rows);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i].busy_ns = double(table->columns[0].values[i]);
    cells[i].name = static_cast<std::uint32_t>(table->columns[1].values[i]);
    cells[i].kind = static_cast<SpanKind>(std::clamp<std::int64_t>(
        table->columns[2].values[i], 0, static_cast<std::int64_t>(SpanKind::kOther)));
  }
  return cells;
}

std::vector<BusyCell> PixelsOfLevel(const LevelCells& level, int log2, std::int64_t from_ns,
                                    std::int64_t to_ns, std::size_t width) {
  std::vector<BusyCell> pixels(width);
  if (width == 0 || to_ns <= from_ns) return pixels;
  const double cell_ns = std::ldexp(1.0, log2);
  const double pixel_ns = double(to_ns - from_ns) / double(width);
  for (std::size_t x = 0; x < width; ++x) {
    const double left = double(from_ns - level.first_ns) + pixel_ns * double(x);
    const double right = left + pixel_ns;
    CellSums sums;
    const double last = std::min(right / cell_ns, double(level.cells.size()));
    for (auto i = static_cast<std::int64_t>(std::max(0.0, std::floor(left / cell_ns)));
         double(i) < last; ++i) {
      const BusyCell& cell = level.cells[static_cast<std::size_t>(i)];
      if (cell.busy_ns <= 0) continue;
      const double begin = std::max(left, double(i) * cell_ns);
      const double end = std::min(right, double(i + 1) * cell_ns);
      if (end > begin) {
        sums.Add(cell.name, cell.kind, cell.busy_ns * (end - begin) / cell_ns);
      }
    }
    pixels[x] = sums.Take();
  }
  return pixels;
}

std::string EncodePixels(std::span<const PixelTrack> tracks, std::size_t width,
                         std::int64_t from_ns, std::int64_t to_ns,
                         std::span<const PixelName> names) {
  std::string bytes = "SPX1";
  PutNumber(bytes, width, 4);
  PutNumber(bytes, tracks.size(), 4);
  PutNumber(bytes, names.size(), 4);
  PutNumber(bytes, static_cast<std::uint64_t>(from_ns), 8);
  PutNumber(bytes, static_cast<std::uint64_t>(to_ns), 8);
  const double pixel_ns = width == 0 ? 0 : double(to_ns - from_ns) / double(width);
  for (const PixelTrack& track : tracks) {
    PutNumber(bytes, track.track, 4);
    for (const BusyCell& pixel : track.pixels) PutNumber(bytes, pixel.name, 4);
    for (const BusyCell& pixel : track.pixels) bytes += char(ShareByte(pixel, pixel_ns));
    for (const BusyCell& pixel : track.pixels) bytes += static_cast<char>(pixel.kind);
    Align(bytes);
  }
  for (const PixelName& name : names) {
    PutNumber(bytes, name.id, 4);
    PutNumber(bytes, name.name.size(), 4);
    bytes += name.name;
    Align(bytes);
  }
  return bytes;
}

}  // namespace stepscope
