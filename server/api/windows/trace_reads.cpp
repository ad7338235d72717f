#include "server/api/windows/trace_reads.h"

#include <algorithm>
#include <cctype>

#include "core/base/text.h"
#include "server/trace/trace_parts.h"

namespace stepscope {
std::string LowerText(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

Result<TraceNames> ReadNames(Connection& connection, const NamedTrace& trace,
                             const std::set<std::uint32_t>& wanted) {
  std::set<std::int64_t> numbers;
  for (const std::uint32_t id : wanted) numbers.insert(id / kPartNames);
  const std::vector<std::int64_t> list(numbers.begin(), numbers.end());
  const auto parts = LoadNumbered(connection, trace.row, trace.job_id, "names", list);
  if (!parts) return parts.error();
  TraceNames names;
  for (const TracePartRow& part : *parts) {
    const auto decoded = DecodeNames(part.payload, part.size);
    if (!decoded) return Internal(decoded.error().message);
    for (std::size_t i = 0; i < decoded->size(); ++i) {
      const auto id = static_cast<std::uint32_t>(part.number * std::int64_t{kPartNames}) +
                      static_cast<std::uint32_t>(i);
      if (wanted.contains(id)) names[id] = (*decoded)[i];
    }
  }
  return names;
}

Result<TraceDetails> ReadDetails(Connection& connection, const NamedTrace& trace,
                                 const std::set<std::uint32_t>& wanted) {
  std::set<std::int64_t> numbers;
  for (const std::uint32_t id : wanted) numbers.insert(std::int64_t(id / kPartRows));
  const std::vector<std::int64_t> list(numbers.begin(), numbers.end());
  const auto parts = LoadNumbered(connection, trace.row, trace.job_id, "details", list);
  if (!parts) return parts.error();
  TraceDetails details;
  for (const TracePartRow& part : *parts) {
    const auto decoded = DecodeDetails(part.payload);
    if (!decoded) return Internal(decoded.error().message);
    for (std::size_t i = 0; i < decoded->size(); ++i) {
      const auto id = static_cast<std::uint32_t>(part.number * std::int64_t{kPartRows}) +
                      static_cast<std::uint32_t>(i);
      if (wanted.contains(id)) details[id] = (*decoded)[i];
    }
  }
  return details;
}

Result<std::set<std::uint32_t>> FindNames(Connection& connection, const NamedTrace& trace,
                                          const std::string& text) {
  const auto parts =
      LoadParts(connection, trace.job_id, trace.row.window_id, trace.row.rank, "names");
  if (!parts) return parts.error();
  const std::string lower = LowerText(text);
  std::set<std::uint32_t> found;
  for (const TracePartRow& part : *parts) {
    const auto decoded = DecodeNames(part.payload, part.size);
    if (!decoded) return Internal(decoded.error().message);
    for (std::size_t i = 0; i < decoded->size(); ++i) {
      if (LowerText((*decoded)[i]).find(lower) == std::string::npos) continue;
      found.insert(static_cast<std::uint32_t>(part.number * std::int64_t{kPartNames}) +
                   static_cast<std::uint32_t>(i));
    }
  }
  return found;
}

Result<std::vector<std::int64_t>> ReadTracks(const NamedTrace& trace,
                                             const std::vector<std::string>& words) {
  const auto count = trace.row.summary.value("track_count", std::int64_t{0});
  std::vector<std::int64_t> tracks;
  for (const std::string& word : words) {
    const auto track = ParseInt(word, "track");
    if (!track || *track < 0 || *track >= count) {
      return Invalid(Format("{} is no track of this trace, which has {}", Printable(word), count));
    }
    tracks.push_back(*track);
  }
  for (std::int64_t track = 0; words.empty() && track < count; ++track) tracks.push_back(track);
  return tracks;
}

}  // namespace stepscope
