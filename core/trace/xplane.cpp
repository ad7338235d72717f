#include "core/trace/xplane.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>

#include "core/base/text.h"
#include "core/trace/protobuf.h"

namespace stepscope {
namespace {

// Fields of the messages, by their numbers in xplane.proto.
constexpr std::uint32_t kSpacePlanes = 1;
constexpr std::uint32_t kPlaneName = 2, kPlaneLines = 3, kPlaneEvents = 4, kPlaneStats = 5;
constexpr std::uint32_t kLineId = 1, kLineName = 2, kLineTime = 3, kLineEvents = 4,
                        kLineShownName = 11;
constexpr std::uint32_t kEventName = 1, kEventOffset = 2, kEventDuration = 3, kEventStats = 4,
                        kEventCount = 5;
constexpr std::uint32_t kStatName = 1, kStatUnsigned = 3, kStatSigned = 4, kStatText = 5;
constexpr std::uint32_t kEntryKey = 1, kEntryValue = 2, kMetadataName = 2, kMetadataShown = 4;

constexpr std::size_t kReadAtOnce = 256 * 1024, kMostNames = 500'000, kMostLines = 16'384,
                      kLongestName = 4'096;
constexpr char kDelimited = '\x0a';                            // the tag of field 1 with bytes
constexpr std::int64_t kLatestNs = 9'000'000'000'000'000'000;  // the year 2255
constexpr std::int64_t kHourNs = 3'600'000'000'000;
constexpr std::int64_t kMostApartNs = 30 * 24 * kHourNs;  // lines of one file
constexpr std::int64_t kMostPs = std::numeric_limits<std::int64_t>::max() / 4;

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text.substr(0, kLongestName)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return quoted + '"';
}

struct TableEntry {
  std::uint64_t key = 0;
  std::string_view name;
};
TableEntry ReadEntry(std::string_view bytes) {
  TableEntry entry;
  ProtobufReader reader(bytes);
  while (const auto field = reader.Next()) {
    if (field->number == kEntryKey) entry.key = field->value;
    if (field->number != kEntryValue) continue;
    ProtobufReader value(field->bytes);
    while (const auto member = value.Next()) {
      const bool shown = member->number == kMetadataShown && !member->bytes.empty();
      if (member->number == kMetadataName || shown) entry.name = member->bytes;
    }
  }
  return entry;
}

// The number of a statistic of an event; -1 where it has none.
struct StatNumber {
  std::uint64_t id = 0;
  std::int64_t number = -1;
};
StatNumber ReadStat(std::string_view bytes) {
  StatNumber stat;
  ProtobufReader reader(bytes);
  while (const auto field = reader.Next()) {
    if (field->number == kStatName) stat.id = field->value;
    const bool number = field->number == kStatUnsigned || field->number == kStatSigned;
    if (number && field->value <= std::uint64_t{1} << 53) {
      stat.number = static_cast<std::int64_t>(field->value);
    }
    if (field->number != kStatText || field->bytes.empty() || field->bytes.size() > 15) continue;
    const bool digits =
        std::ranges::all_of(field->bytes, [](unsigned char c) { return std::isdigit(c) != 0; });
    if (digits) stat.number = std::stoll(std::string(field->bytes));
  }
  return stat;
}

std::string Microseconds(std::int64_t ns) {
  return Format("{}.{:03}", ns / 1'000, ns % 1'000);
}

}  // namespace

bool IsXPlane(std::string_view head) {
  if (head.empty() || head[0] != kDelimited) return false;
  head.remove_prefix(1);
  const auto length = TakeVarint(head);
  // A plane begins with its number or its name; JSON has neither of these bytes there.
  return length && *length > 0 && !head.empty() && (head[0] == '\x08' || head[0] == '\x12');
}

void XPlaneText::Count(std::string_view reason) {
  ++faults_[std::string(reason)];
}

void XPlaneText::Write(std::string_view event) {
  if (any_) out_ += ",\n";
  any_ = true;
  out_ += event;
}

std::string_view XPlaneText::NameOf(std::uint64_t metadata_id) const {
  const auto known = names_.find(metadata_id);
  return known == names_.end() ? std::string_view() : known->second;
}

// Whether `head_` has a tag and a length, or all that the file has.
bool XPlaneText::FillHead() {
  while (head_.size() < kXPlaneHead && !source_ended_) {
    const std::size_t before = head_.size();
    head_.resize(before + kReadAtOnce);
    const std::size_t got = source_.Read(std::span(head_).subspan(before));
    head_.resize(before + got);
    source_ended_ = got == 0;
  }
  return !head_.empty();
}

void XPlaneText::Skip(std::uint64_t size) {
  while (size > 0) {
    const auto taken = std::min<std::uint64_t>(size, head_.size());
    head_.erase(0, static_cast<std::size_t>(taken));
    size -= taken;
    if (size > 0 && !FillHead()) return Count("truncated");
  }
}

// False where it breaks off; `plane_` has what there is of it.
bool XPlaneText::TakePlane(std::uint64_t size) {
  const auto first = std::min<std::size_t>(static_cast<std::size_t>(size), head_.size());
  plane_.assign(head_, 0, first);
  head_.erase(0, first);
  while (plane_.size() < size) {
    const std::size_t before = plane_.size();
    plane_.resize(std::min<std::size_t>(static_cast<std::size_t>(size), before + kReadAtOnce));
    const std::size_t got = source_.Read(std::span(plane_).subspan(before));
    plane_.resize(before + got);
    if (got == 0) return false;
  }
  return true;
}

bool XPlaneText::NextPlane() {
  while (FillHead()) {
    std::string_view rest = head_;
    const auto tag = TakeVarint(rest);
    const auto length = tag && (*tag & 7) == 2 ? TakeVarint(rest) : std::nullopt;
    if (!length) {
      Count(source_ended_ && head_.size() < kXPlaneHead ? "truncated" : "broken_event");
      return false;
    }
    head_.erase(0, head_.size() - rest.size());
    if (*tag >> 3 == kSpacePlanes && *length <= kMostPlaneBytes) {
      if (!TakePlane(*length)) Count("truncated");
      BeginPlane();
      return true;
    }
    if (*tag >> 3 == kSpacePlanes) Count("too_large");
    Skip(*length);
  }
  return false;
}

void XPlaneText::BeginPlane() {
  lines_.clear();
  events_.reset();
  names_.clear();
  next_line_ = 0;
  plane_name_ = {};
  step_stat_ = correlation_stat_ = 0;
  ProtobufReader reader(plane_);
  while (const auto field = reader.Next()) {
    if (field->number == kPlaneName) plane_name_ = field->bytes;
    if (field->number == kPlaneLines && lines_.size() < kMostLines) {
      lines_.push_back(field->bytes);
    } else if (field->number == kPlaneLines) {
      Count("tracks_beyond_limit");
    }
    if (field->number != kPlaneEvents && field->number != kPlaneStats) continue;
    const TableEntry entry = ReadEntry(field->bytes);
    if (field->number == kPlaneEvents && names_.size() < kMostNames) {
      names_[entry.key] = entry.name;
    } else if (field->number == kPlaneEvents) {
      Count("names_beyond_limit");
    } else if (entry.name == "step_num") {
      step_stat_ = entry.key;
    } else if (entry.name == "correlation_id") {
      correlation_stat_ = entry.key;
    }
  }
  if (reader.broken()) Count("broken_member");
  Write(Format(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", ++planes_,
               Quoted(plane_name_)));
}

void XPlaneText::BeginLine(std::string_view line) {
  std::int64_t at_ns = 0;
  std::string_view name;
  line_id_ = 0;
  ProtobufReader reader(line);
  while (const auto field = reader.Next()) {
    if (field->number == kLineId) line_id_ = field->value;
    const bool shown = field->number == kLineShownName && !field->bytes.empty();
    if (field->number == kLineName || shown) name = field->bytes;
    if (field->number == kLineTime) at_ns = static_cast<std::int64_t>(field->value);
  }
  if (reader.broken()) Count("broken_member");
  if (!has_base_ && at_ns >= kHourNs && at_ns <= kLatestNs) {
    base_ns_ = at_ns - kHourNs;
    has_base_ = true;
  }
  const bool near = at_ns >= 0 && at_ns <= kLatestNs && at_ns - base_ns_ >= -kMostApartNs &&
                    at_ns - base_ns_ <= kMostApartNs;
  if (!near) return Count("bad_start");
  line_ns_ = at_ns - base_ns_;
  events_.emplace(line);
  Write(Format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})",
               planes_, line_id_, Quoted(name)));
}

void XPlaneText::WriteEvents() {
  while (out_.size() < kReadAtOnce) {
    const auto field = events_->Next();
    if (!field) return events_.reset();
    if (field->number == kLineEvents) WriteEvent(field->bytes);
  }
}

void XPlaneText::WriteEvent(std::string_view event) {
  std::uint64_t name = 0;
  std::int64_t offset_ps = 0, duration_ps = 0, step = -1, correlation = -1;
  ProtobufReader reader(event);
  while (const auto field = reader.Next()) {
    const auto number = static_cast<std::int64_t>(field->value);
    if (field->number == kEventName) name = field->value;
    if (field->number == kEventOffset) offset_ps = number;
    if (field->number == kEventDuration) duration_ps = number;
    if (field->number == kEventCount) return;  // a sum over many, which is no span
    if (field->number != kEventStats) continue;
    const StatNumber stat = ReadStat(field->bytes);
    if (stat.id != 0 && stat.id == step_stat_) step = stat.number;
    if (stat.id != 0 && stat.id == correlation_stat_) correlation = stat.number;
  }
  if (reader.broken()) return Count("broken_event");
  if (offset_ps > kMostPs || offset_ps < -kMostPs) return Count("bad_start");
  if (duration_ps > kMostPs || duration_ps < 0) return Count("bad_duration");
  const std::int64_t start_ns = line_ns_ + offset_ps / 1'000;
  if (start_ns < 0) return Count("bad_start");
  std::string args;
  if (step >= 0) args = Format(R"("step_num":{})", step);
  if (correlation >= 0) {
    args += Format(R"({}"correlation":{})", args.empty() ? "" : ",", correlation);
  }
  Write(Format(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"args":{{{}}}}})",
               planes_, line_id_, Microseconds(start_ns), Microseconds(duration_ps / 1'000),
               Quoted(NameOf(name)), args));
}

// Writes a piece of the text; false when there is no more.
bool XPlaneText::More() {
  out_.clear();
  given_ = 0;
  if (ended_) return false;
  if (!begun_) out_ = "{\"traceEvents\":[\n";
  begun_ = true;
  if (events_) {
    WriteEvents();
  } else if (next_line_ < lines_.size()) {
    BeginLine(lines_[next_line_++]);
  } else if (!NextPlane()) {
    out_ += "\n]";
    if (has_base_) out_ += Format(",\"baseTimeNanoseconds\":{}", base_ns_);
    out_ += "}";
    ended_ = true;
  }
  return true;
}

std::size_t XPlaneText::Read(std::span<char> into) {
  while (given_ == out_.size()) {
    if (!More()) return 0;
  }
  const std::size_t size = std::min(into.size(), out_.size() - given_);
  std::memcpy(into.data(), out_.data() + given_, size);
  given_ += size;
  return size;
}

}  // namespace stepscope
