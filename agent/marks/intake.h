#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/marks/marks_socket.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "core/model/step.h"
#include "core/wire/mark_message.h"

namespace stepscope {

// The job of a process that introduces itself; an error is what the process is told.
using NameJob = std::function<Result<std::string>(const MarkHello& hello, std::int64_t pid)>;

struct IntakeOptions {
  std::string socket_path;             // empty: DefaultSocketPath()
  bool allow_other_users = false;      // else only processes of the agent's own user are heard
  std::optional<std::uint32_t> group;  // others, if they are members of it
  std::uint32_t user;                  // whose processes are heard; the agent's own by default
  std::size_t max_processes = 1024;    // another user may have half of these
  std::size_t max_jobs = 64;           // and half of these
  NameJob name_job;                    // not set: all belong to one job, whose name is ""
  Duration read_interval = 500ms;      // how often rings are emptied between two drains

  IntakeOptions();
};

// A rank that registered, or whose facts changed since (the loader's settings, marks lost).
struct RankRegistration {
  std::int32_t rank = 0;
  Time at{};
  std::string facts;  // a JSON object: "pid", "local_rank", "world_size", "dropped", ...
};

struct RankEnd {
  std::int32_t rank = 0;
  Time at{};
};

// One name over one drain, of all processes and threads of a rank.
// The spans of an annotation whose durations lie in one bin (core/model/span_bins.h), so an
// annotation has one for each of its bins, one behind the other.
struct AnnotationStatistic {
  std::string name;  // valid UTF-8, at most 128 bytes
  std::int64_t from_us = 0, to_us = 0;
  std::int64_t count = 0;
  std::int64_t sum_ns = 0, min_ns = 0, max_ns = 0;
};

// Steps of a job of which each span of an annotation is wanted.
struct SpanWindow {
  std::int64_t window_id = 0;         // as the service numbers it
  std::int64_t first = 0, last = -1;  // steps
  std::string command{};              // whose answer its end is
  Duration wait{};                    // for its last step
};

// One time that an annotation was open.
struct WindowSpan {
  std::int32_t name = 0;     // index into RankSpans::names
  std::int32_t thread = 0;   // of the process
  std::int64_t process = 0;  // its number on the node
  std::int64_t step = 0;     // in whose time it ended
  std::int64_t start_ns = 0, duration_ns = 0;
};

struct RankSpans {
  std::int64_t window_id = 0;
  std::vector<std::string> names;
  std::vector<WindowSpan> rows;
};

// A window is over, and all its spans were handed over.
struct SpanWindowEnd {
  std::string command;
  Time at{};
  bool recorded = false;
  std::string reason;  // why not, or why not all of it
  std::int64_t spans = 0, dropped = 0;
};

struct RankMarks {
  std::int32_t rank = 0;
  // Numbers only grow, also across drains; so do starts, unless the wall clock is set back.
  std::vector<Step> steps;
  std::vector<AnnotationStatistic> annotations;
  RankSpans spans{};  // of the window that is kept
};

// What a rank said that one of its metrics is: the newest of what it said.
struct RankMetric {
  std::int32_t rank = 0;
  std::string metric;  // as in IsCustomMetric
  double value = 0;    // finite
};

using UseMetric = std::function<void(std::int32_t rank, const std::string& metric, double value)>;

// What came in since the last drain. To be reported in this order: started, marks, ended.
struct IntakeBatch {
  std::vector<RankRegistration> rank_started;
  std::vector<RankMarks> marks;  // at most one entry for each rank
  std::vector<RankEnd> rank_ended;
  std::optional<SpanWindowEnd> window_ended{};
};

// A process that is heard. `devices` is its CUDA_VISIBLE_DEVICES, "" where it has none.
struct HeardProcess {
  std::int32_t rank = 0;
  std::int64_t pid = 0;
  std::string devices;
};

// A job that processes named, until it is forgotten.
struct HeardJob {
  std::string job;
  std::uint32_t user = 0;
  std::vector<HeardProcess> processes;  // empty: all of them are gone
};

// Listens for training processes on a unix socket and turns their marks into steps and statistics.
// One thread of its own. Whatever a process sends, or stops to send, harms that process's marks
// only: it is refused by name in the log. `clock` outlives it. All functions may be called from any
// thread. The socket file is gone when it is destroyed.
class Intake {
 public:
  // Unavailable when another agent listens there, Invalid for a path that cannot be used.
  static Result<std::unique_ptr<Intake>> Start(const IntakeOptions& options, const Clock& clock);
  ~Intake();
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;

  // Reads all rings to their end and takes out everything that is complete. A step is complete when
  // its end was marked, so drains never cut one. At most 16,384 steps of a rank at a time.
  IntakeBatch Drain(const std::string& job = "");

  // The same for the metrics that were set since they were taken before, in the order of ranks and
  // names; at most 64 names of a rank ever. Drain leaves them alone. `use` must not call back; for
  // metrics alone nothing is allocated after their first values.
  void TakeMetrics(const std::string& job, const UseMetric& use);
  std::vector<RankMetric> TakeMetrics(const std::string& job = "");

  // Asks all processes of a job for something; waits for none of them. Each hears of it at the end
  // of its step, and what it answers is a fact of its rank, named as the command: "refused: ...".
  // How many could be told.
  std::size_t Ask(const std::string& job, const std::string& command, const std::string& argument);

  // Keeps the spans of annotations in these steps of a job, for its drains to hand over; one of
  // them says when the window is over. Why not, or nothing. At most kMostWindowSpans are kept.
  static constexpr std::size_t kMostWindowSpans = 65'536;
  std::string KeepSpans(const std::string& job, const SpanWindow& window);

  std::vector<HeardJob> Jobs() const;

  // Grows whenever Jobs() may say something else than before.
  std::uint64_t Changes() const;

  // Lets go of a job that has no processes any more, and nothing to drain. False when it has.
  bool Forget(const std::string& job);

  // For STEPSCOPE_SOCKET in the environment of the training.
  const std::string& socket_path() const;

  // Who may connect to it.
  SocketAccess access() const;

 private:
  class Server;
  explicit Intake(std::unique_ptr<Server> server);
  std::unique_ptr<Server> server_;
};

// Folders in which agents of this user and of the node may have sockets, if nobody else can have
// put them there.
std::vector<std::string> AgentFolders();

// $XDG_RUNTIME_DIR/stepscope, /run/stepscope for root, else /tmp/stepscope-UID: `name`.sock in it.
// With the job as name, an agent that is started again is found by the processes of that job. The
// folder is made with mode 0700 when it is missing (0755 in /run) and refused when it is someone
// else's.
Result<std::string> DefaultSocketPath(const std::string& name = "agent");

}  // namespace stepscope
