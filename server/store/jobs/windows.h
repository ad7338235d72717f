#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/store/jobs/jobs.h"

namespace stepscope {

// Windows of a job: the steps of which every span of an annotation is stored
// (docs/decisions/0042-windows-of-spans.md). Each is told to every agent until that has answered
// it, at the end of its recording.

inline constexpr std::int64_t kMostWindowSteps = 1'000;
inline constexpr std::int64_t kMostOperatorSteps = 8;  // a profiler slows the training down
inline constexpr std::int64_t kMostWindows = 1'000;    // in a job
inline constexpr std::int64_t kMostStep = std::int64_t{1} << 53;
// Who asked for a window: a person or a program by REST, or else "script", "start_profiling" or
// "schedule" (the training recorded it without being asked), "early" or the name of a rule (the
// service asked by itself).
inline constexpr std::string_view kAskedByPerson = "person";
// Answers that a window is read with, alone and in a list: a job has as many agents as it likes.
inline constexpr std::int64_t kMostAnswers = 1'000, kMostListedAnswers = 20;
inline constexpr Duration kWindowWait = 1h;  // how long agents wait for the window's last step

// The facts of nodes that tell who records windows, for ListNodes.
inline constexpr std::string_view kWindowFacts[] = {"allows"};

// Whether an agent that still runs lets the service ask for windows that nobody asked for; the
// nodes were read with kWindowFacts.
bool AllowsAutomatic(const std::vector<NodeRow>& nodes);

// An agent's answer at the end of a window.
struct WindowAnswer {
  std::int64_t window_id = 0;
  std::string node = {};
  std::int64_t at_us = 0;
  bool recorded = false;
  std::string reason = {};              // why it refused; else a remark, or ""
  std::int64_t spans = 0, dropped = 0;  // spans that it sent, and spans that found no room
};

struct WindowRow {
  std::int64_t window_id = 0, start_step = 0, num_steps = 0, asked_us = 0, until_us = 0;
  std::int64_t spans = 0;     // spans that arrived
  bool of_traces = false;     // no agent was asked: its spans came in trace files
  bool operators = false;     // training processes were asked for trace files, too
  bool shapes = false;        // and those for the shapes of their operators' inputs
  std::string asked_by = {};  // kAskedByPerson, "script", "schedule", ...
  std::int64_t answer_count = 0, recorded_count = 0;  // answers, and those of agents that recorded
  std::int64_t sent = 0, dropped = 0;                 // spans, by all answers
  std::vector<WindowAnswer> answers{};                // the first ones, by time
  // The nodes whose agents answered; of the job's newest window alone.
  std::vector<std::int64_t> answered_nodes{};
};

enum class WindowStatus { kOpen, kRecorded, kNotRecorded };
std::string_view ToText(WindowStatus status);

// The state of a window. Nothing closes it, so the state follows from the answers, the job and its
// nodes, which were read with kWindowFacts.
struct WindowState {
  WindowStatus status = WindowStatus::kOpen;
  std::string reason;  // why it was not recorded, or not as a whole; "" else
};
WindowState WindowStateOf(const WindowRow& window, const JobRow& job,
                          const std::vector<NodeRow>& nodes, std::int64_t now_us);

// The number of the next window, whoever makes it; the job is locked. Conflict when the job has as
// many as it may have.
Result<std::int64_t> NextWindow(Connection& connection, const JobRow& job);

struct AskedWindow {
  WindowRow window;
  bool fresh = false;  // false: the same window was requested before, and is open
};
// The steps of a window, and whether operators and the shapes of their inputs are wanted, too.
struct WindowRequest {
  std::int64_t start_step = 0, num_steps = 0;
  bool operators = false, shapes = false;
  std::string asked_by{kAskedByPerson};
};

// Requests a window, in the caller's transaction. Conflict when another one is open, when the job
// has ended, and when no agent that still sends records spans, or operators where these are wanted.
Result<AskedWindow> AskForWindow(Connection& connection, std::int64_t job_id,
                                 const WindowRequest& wanted, std::int64_t now_us);

// NotFound names the window.
Result<WindowRow> FindWindow(Connection& connection, std::int64_t job_id, std::int64_t window_id);

struct WindowPage {
  std::vector<WindowRow> items;  // the newest first
  std::string next;              // "" at the end
  std::int64_t total = 0;
};
Result<WindowPage> ListWindows(Connection& connection, std::int64_t job_id,
                               const std::string& after, int limit);

}  // namespace stepscope
