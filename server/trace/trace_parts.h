#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/trace/trace.h"

namespace stepscope {

// A piece of a trace as it is stored: a table of spans of one track, a text, or an answer.
struct TracePart {
  std::string part;  // "spans", "names", "details", "memory", or the name of an answer
  std::int64_t track = 0, number = 0, from_ns = 0, to_ns = 0;
  std::int64_t size = 0;  // rows of a table, bytes of a text before it was compressed
  std::string payload;
};

inline constexpr std::size_t kPartRows = 16'384;
inline constexpr std::size_t kPartNames =
    256;  // a part of names has as many, and a number of its own

// Spans by track and time, names, details and memory events. Everything that DecodeParts needs.
std::vector<TracePart> EncodeParts(const Trace& trace);

// The names of one part, of which the first has the index part number x kPartNames.
Result<std::vector<std::string>> DecodeNames(std::string_view payload, std::int64_t size);

// The details of one part, of which the first has the index part number x kPartRows.
Result<std::vector<SpanDetail>> DecodeDetails(std::string_view payload);

// A text, such as the JSON of an answer.
TracePart EncodeText(std::string part, std::string_view text);
Result<std::string> DecodeText(std::string_view payload, std::int64_t size);

// The spans of one part. Invalid for hostile bytes; indices are not checked against any dictionary.
Result<std::vector<TraceSpan>> DecodeSpans(std::string_view payload, std::uint16_t track);

}  // namespace stepscope
