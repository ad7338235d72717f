#include "core/trace/trace_event.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace stepscope {
namespace {

// The member that a key names; null for a key that nobody needs. Called for every member of every
// event, so that the length decides first.
using Member = std::string_view TraceEvent::*;

Member MemberOf(std::string_view key) {
  switch (key.size()) {
    case 2:
      if (key == "ph") return &TraceEvent::phase;
      return key == "ts" ? &TraceEvent::start : nullptr;
    case 3:
      if (key == "cat") return &TraceEvent::category;
      if (key == "dur") return &TraceEvent::duration;
      if (key == "pid") return &TraceEvent::process;
      return key == "tid" ? &TraceEvent::thread : nullptr;
    case 4:
      return key == "name" ? &TraceEvent::name : nullptr;
    default:
      return nullptr;
  }
}

struct Argument {
  std::string_view key;
  Member member;
};
constexpr Argument kArguments[] = {
    {"External id", &TraceEvent::external_id},
    {"correlation", &TraceEvent::correlation},
    {"device", &TraceEvent::device},
    {"stream", &TraceEvent::stream},
    {"bytes", &TraceEvent::bytes},
    {"size", &TraceEvent::bytes},   // AMD has it at the call that copies
    {"Bytes", &TraceEvent::bytes},  // allocated
    {"grid", &TraceEvent::grid},
    {"block", &TraceEvent::block},
    {"est. achieved occupancy %", &TraceEvent::occupancy},
    {"graph id", &TraceEvent::graph},
    {"Input Dims", &TraceEvent::shapes},
    {"Input type", &TraceEvent::types},
    {"Collective name", &TraceEvent::collective},
    {"Process Group Name", &TraceEvent::group},
    {"Group size", &TraceEvent::group_size},
    {"In msg nelems", &TraceEvent::in_elements},
    {"Out msg nelems", &TraceEvent::out_elements},
    {"dtype", &TraceEvent::element_type},
    {"Total Allocated", &TraceEvent::allocated},
    {"Total Reserved", &TraceEvent::reserved},
    {"Device Type", &TraceEvent::device_type},
    {"Device Id", &TraceEvent::device_id},
    {"name", &TraceEvent::label},
    {"labels", &TraceEvent::label},
    {"external id", &TraceEvent::external_id},  // files of 2021
    {"step_num", &TraceEvent::step},
    {"correlation_id", &TraceEvent::correlation},
    {"connection_id", &TraceEvent::correlation},  // Ascend
    {"start_time_since_epoch_in_micros", &TraceEvent::epoch_us},
};

Member ArgumentOf(std::string_view key) {
  for (const Argument& argument : kArguments) {
    if (argument.key == key) return argument.member;
  }
  return nullptr;
}

Scan ReadMembers(JsonCursor& cursor, TraceEvent& event, bool of_arguments);

// A text, a number or, of an argument, any value as it stands.
Scan ReadMember(JsonCursor& cursor, std::string_view key, TraceEvent& event, bool of_arguments) {
  SkipSpace(cursor);
  if (cursor.empty()) return Scan::kMore;
  if (!of_arguments && key == "args" && *cursor.at == '{') return ReadMembers(cursor, event, true);
  const Member member = of_arguments ? ArgumentOf(key) : MemberOf(key);
  std::string_view raw;
  bool quoted = false;
  const bool nested = *cursor.at == '{' || *cursor.at == '[';
  const Scan scan = nested ? SkipValue(cursor, raw) : ReadScalar(cursor, raw, quoted);
  if (scan == Scan::kOk && member && (of_arguments || !nested)) event.*member = raw;
  return scan;
}

Scan ReadMembers(JsonCursor& cursor, TraceEvent& event, bool of_arguments) {
  if (const Scan scan = Expect(cursor, '{'); scan != Scan::kOk) return scan;
  for (;;) {
    SkipSpace(cursor);
    if (cursor.empty()) return Scan::kMore;
    if (*cursor.at == '}') return ++cursor.at, Scan::kOk;
    if (*cursor.at == ',') {
      ++cursor.at;
      continue;
    }
    std::string_view key;
    if (const Scan scan = ReadText(cursor, key); scan != Scan::kOk) return scan;
    if (const Scan scan = Expect(cursor, ':'); scan != Scan::kOk) return scan;
    const Scan scan = ReadMember(cursor, key, event, of_arguments);
    if (scan != Scan::kOk) return scan;
  }
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// By way of a double, for exponents and what is too long: exact to 2^53.
std::optional<std::int64_t> Inexact(std::string_view token, double factor) {
  double value = 0;
  const auto read = std::from_chars(token.data(), token.data() + token.size(), value);
  if (read.ec != std::errc() || read.ptr != token.data() + token.size()) return std::nullopt;
  value *= factor;
  if (!std::isfinite(value) || std::abs(value) >= 9.2e18) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

}  // namespace

Scan ReadEvent(JsonCursor& cursor, TraceEvent& event) {
  event = {};
  SkipSpace(cursor);
  const char* const begin = cursor.at;
  const Scan scan = ReadMembers(cursor, event, false);
  if (scan != Scan::kOk) return scan;
  event.is_empty = std::all_of(begin + 1, cursor.at - 1, IsJsonSpace);
  return scan;
}

std::optional<std::int64_t> NanosecondsOf(std::string_view microseconds) {
  const char* at = microseconds.data();
  const char* const end = at + microseconds.size();
  const bool negative = at != end && *at == '-';
  at += negative ? 1 : 0;
  const char* const first = at;
  std::int64_t whole = 0, decimals = 0;
  while (at != end && IsDigit(*at) && at - first < 16) whole = whole * 10 + (*at++ - '0');
  const bool any = at != first;
  if (any && at != end && *at == '.') {
    ++at;
    for (std::int64_t unit = 100; at != end && IsDigit(*at); ++at, unit /= 10) {
      decimals += unit * (*at - '0');
    }
  }
  constexpr std::int64_t kMostWhole = 9'000'000'000'000'000;
  if (!any || at != end || whole > kMostWhole) return Inexact(microseconds, 1'000);
  const std::int64_t ns = whole * 1'000 + decimals;
  return negative ? -ns : ns;
}

std::optional<std::int64_t> IntegerOf(std::string_view token) {
  std::int64_t value = 0;
  const auto read = std::from_chars(token.data(), token.data() + token.size(), value);
  if (read.ec == std::errc() && read.ptr == token.data() + token.size()) return value;
  return Inexact(token, 1);
}

}  // namespace stepscope
