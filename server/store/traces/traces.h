#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "server/store/jobs/windows.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// Traces of a profiler: what ranks did in windows, taken apart (docs/windows.md). The store knows
// neither spans nor answers, only parts with a name.

struct TraceRow {
  std::int64_t window_id = 0;
  int rank = 0;
  std::string file, digest;
  std::int64_t received_us = 0, from_us = 0, to_us = 0, spans = 0;
  Json summary;
};

// A part to be stored.
struct NewTracePart {
  std::string_view part, payload;
  std::int64_t track = 0, number = 0, from_ns = 0, to_ns = 0, size = 0;
};

struct StoredTrace {
  std::int64_t window_id = 0, rank = 0;
  bool fresh = false;  // false: the same bytes were stored before
};

// The steps that a trace shows; no steps: both 0.
struct TraceSteps {
  std::int64_t first = 0, count = 0;
  // Who made the training record them: kAskedByPerson for a file that somebody imports. Traces of
  // several ranks that somebody else asked for make one window.
  std::string asked_by{kAskedByPerson};
  bool numbered = false;      // by the profiler, so that all ranks have the same numbers
  bool on_our_clock = false;  // the trace's times are since the epoch
  // The first window that an import has made: further ranks may join it and those behind.
  std::optional<std::int64_t> from_window = {};
};

// Stores a trace in the caller's transaction: in this window of traces or, without one, in the one
// that has the same capture of other ranks (same_capture.h), or in a new one. Bytes that the job
// has already are not stored again, unless retention has removed what they held: then they are,
// where they were. NotFound for a window that does not exist or is none of traces; Conflict when it
// has a trace of this rank or of other steps, and when the job has all the windows that a job may
// have.
Result<StoredTrace> StoreTrace(Connection& connection, std::int64_t job_id,
                               std::optional<std::int64_t> window_id, const TraceRow& trace,
                               const TraceSteps& steps, std::span<const NewTracePart> parts);

struct WindowRange {
  std::int64_t first = 0, last = 0;
};
// The traces of windows, by window and rank: those of the lowest `most` ranks of each, 10,000 in
// all, and without what rules are told of them.
Result<std::vector<TraceRow>> ListTraces(Connection& connection, std::int64_t job_id,
                                         const WindowRange& windows, std::int64_t most);
// How many traces each window has that has some.
Result<std::map<std::int64_t, std::int64_t>> CountTraces(Connection& connection,
                                                         std::int64_t job_id,
                                                         const WindowRange& windows);

// The trace of a rank, or of the lowest one. NotFound names the window, and says so when it is not
// of traces.
Result<TraceRow> FindTrace(Connection& connection, std::int64_t job_id, std::int64_t window_id,
                           std::optional<std::int64_t> rank);

// The trace of a rank, or of the lowest one, in the newest window before this one that has it.
Result<TraceRow> FindTraceBefore(Connection& connection, std::int64_t job_id,
                                 std::int64_t window_id, std::optional<std::int64_t> rank);

// What the rules are told of a trace: the member "evidence" of its summary.
struct TraceEvidence {
  std::int64_t window_id = 0;
  int rank = 0;
  Json evidence;
};
// The evidence of the newest windows, by window and rank; at most `most`.
Result<std::vector<TraceEvidence>> ListEvidence(Connection& connection, std::int64_t job_id,
                                                int most);

struct TracePartRow {
  std::int64_t track = 0, number = 0, from_ns = 0, to_ns = 0, size = 0;
  std::string payload;
};

// All parts of a name that are not of spans, by number; none when retention has removed them.
Result<std::vector<TracePartRow>> LoadParts(Connection& connection, std::int64_t job_id,
                                            std::int64_t window_id, int rank,
                                            std::string_view part);

// Parts of tracks that reach into [from_ns, to_ns], by track and number from a place on; at most
// `most`, 1 to 5,000.
struct TrackRange {
  std::string_view part;
  std::span<const std::int64_t> tracks;
  std::int64_t from_ns = 0, to_ns = INT64_MAX;
  std::int64_t after_track = -1, after_number = -1;  // parts behind this one
  int most = 5'000;
};
Result<std::vector<TracePartRow>> LoadTrackParts(Connection& connection, const TraceRow& trace,
                                                 std::int64_t job_id, const TrackRange& range);

// Parts that are of no track, by number: those of these numbers.
Result<std::vector<TracePartRow>> LoadNumbered(Connection& connection, const TraceRow& trace,
                                               std::int64_t job_id, std::string_view part,
                                               std::span<const std::int64_t> numbers);

// Removes a window with all that is known of it, in the caller's transaction. NotFound without one.
Status DeleteWindow(Connection& connection, std::int64_t job_id, std::int64_t window_id);

}  // namespace stepscope
