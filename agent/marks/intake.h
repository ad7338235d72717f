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
#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "core/model/step.h"
#include "core/wire/mark_message.h"

namespace stepscope {

// A process that connected, as the kernel knows it.
struct MarkCaller {
  std::int64_t pid = 0;
  std::uint32_t user = 0, group = 0;
};

// Names the job of a process from its hello; an error is sent to the process. Never waits: nothing
// means that it is to be asked again, which happens with each reading of the rings, for 10 s.
using NameJob =
    std::function<std::optional<Result<std::string>>(const MarkHello& hello, const MarkCaller&)>;

struct IntakeOptions {
  std::string socket_path;             // empty: DefaultSocketPath()
  bool allow_other_users = false;      // else only the agent's own user may connect
  std::optional<std::uint32_t> group;  // other users, if they are members of it
  std::uint32_t user;                  // the user who may connect; the agent's own by default
  std::size_t max_processes = 1024;    // another user may have half of these
  std::size_t max_jobs = 64;           // another user may have half of these
  std::string schedule;                // what each process is asked when it comes: see Ask
  NameJob name_job;                    // not set: all belong to one job, whose name is ""
  Duration read_interval = 500ms;      // between two readings of the rings

  IntakeOptions();
};

// A rank that registered, or whose facts have changed (the loader's settings, marks lost).
struct RankRegistration {
  std::int32_t rank = 0;
  Time at{};
  std::string facts;  // a JSON object: "pid", "local_rank", "world_size", "dropped", ...
};

struct RankEnd {
  std::int32_t rank = 0;
  Time at{};
};

// Statistics of an annotation over one drain, of all processes and threads of a rank. Only of spans
// whose durations are in one bin (core/model/span_bins.h), so an annotation has one for each of its
// bins, one behind the other.
struct AnnotationStatistic {
  std::string name;  // valid UTF-8, at most 128 bytes
  std::int64_t from_us = 0, to_us = 0;
  std::int64_t count = 0;
  std::int64_t sum_ns = 0, min_ns = 0, max_ns = 0;
};

// Steps of a job in which each span of an annotation is kept.
struct SpanWindow {
  std::int64_t window_id = 0;         // the service's number for it
  std::int64_t first = 0, last = -1;  // steps
  std::string command{};              // id of the command that the window's end answers
  Duration wait{};                    // how long to wait for its last step
  std::string ask{};     // what each rank is asked, so that it records operators; "": nothing
  std::string remark{};  // goes with the reason of the window's end
};

// One span of an annotation.
struct WindowSpan {
  std::int32_t name = 0;     // index into RankSpans::names
  std::int32_t thread = 0;   // thread of the process
  std::int64_t process = 0;  // the process's number on the node
  std::int64_t step = 0;     // the step in whose time it ended
  std::int64_t start_ns = 0, duration_ns = 0;
};

struct RankSpans {
  std::int64_t window_id = 0;
  std::vector<std::string> names;
  std::vector<WindowSpan> rows;
};

// A trace file of a rank. Whatever its process has passed: it may be no file, or a huge one.
struct RankTrace {
  std::int32_t rank = 0;
  MarkTrace said;
  Descriptor file;
  std::uint32_t user = 0;  // whose process passed it
};

// The end of a window, after all its spans were handed over.
struct SpanWindowEnd {
  std::string command;
  Time at{};
  bool recorded = false;
  std::string reason;  // why spans are missing; "" when none is
  std::int64_t spans = 0, dropped = 0;
};

struct RankMarks {
  std::int32_t rank = 0;
  // Step numbers only grow, also across drains; so do start times, unless the wall clock is set
  // back.
  std::vector<Step> steps;
  std::vector<AnnotationStatistic> annotations;
  RankSpans spans{};  // spans of the window
};

// The newest value that a rank set for a metric.
struct RankMetric {
  std::int32_t rank = 0;
  std::string metric;  // a name for which IsCustomMetric is true
  double value = 0;    // finite
};

// Takes how long a rank has evaluated.
using UseEvaluated = std::function<void(std::int32_t rank, Duration evaluated)>;

using UseMetric = std::function<void(std::int32_t rank, const std::string& metric, double value)>;

// Everything since the last drain. To be reported in this order: started, marks, ended.
struct IntakeBatch {
  std::vector<RankRegistration> rank_started;
  std::vector<RankMarks> marks;  // at most one entry for each rank
  std::vector<RankEnd> rank_ended;
  std::optional<SpanWindowEnd> window_ended{};
  std::vector<RankTrace> traces{};  // at most Intake::kMostTraces of a process
};

// A connected training process. `devices` is its CUDA_VISIBLE_DEVICES, "" where it has none.
struct HeardProcess {
  std::int32_t rank = 0;
  std::int64_t pid = 0;
  std::string devices;
  bool on_cpu = false;  // it trains there, and has taken no device
};

// A job that connected processes have named, until it is forgotten.
struct HeardJob {
  std::string job;
  std::uint32_t user = 0;
  std::vector<HeardProcess> processes;  // empty: all of them are gone
};

// Accepts training processes on a unix socket and turns their marks into steps and statistics. One
// thread of its own. Faulty messages of a process, or missing ones, harm that process's marks only:
// it is refused, which is logged. `clock` outlives it. Any thread may call its functions. The
// socket file is removed when it is destroyed.
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

  // Takes out the metrics that were set since the last call, in the order of ranks and names; at
  // most 64 names of a rank ever. Drain leaves them alone. `use` must not call back; after a
  // metric's first value nothing is allocated.
  void TakeMetrics(const std::string& job, const UseMetric& use);
  std::vector<RankMetric> TakeMetrics(const std::string& job = "");

  // Takes out how long each rank evaluated, as far as that was read since the last call: the sum of
  // its annotations "evaluation". Ranks that told of none are left out. Reads no ring, since a tick
  // takes the metrics before. `use` must not call back.
  void TakeEvaluated(const std::string& job, const UseEvaluated& use);

  // Sends a command to all processes of a job, without waiting. Each process reads it at the end of
  // its step, and its answer becomes a fact of its rank, named as the command: "refused: ...".
  // Returns to how many processes it could be sent.
  std::size_t Ask(const std::string& job, const std::string& command, const std::string& argument);

  // Keeps the spans of annotations in these steps of a job, for its drains to hand over; one drain
  // reports the end of the window. Returns the reason why not, or "". At most kMostWindowSpans are
  // kept of all windows that are open at once.
  static constexpr std::size_t kMostWindowSpans = 65'536;
  std::string KeepSpans(const std::string& job, const SpanWindow& window);

  // Trace files of a process that wait for a drain; further ones are closed unread, which a fact of
  // the rank says.
  static constexpr std::size_t kMostTraces = 4;

  std::vector<HeardJob> Jobs() const;

  // A counter that grows whenever the result of Jobs() may have changed.
  std::uint64_t Changes() const;

  // Forgets a job without processes and with nothing left to drain. False when it has either.
  bool Forget(const std::string& job);

  // The value of STEPSCOPE_SOCKET for the training.
  const std::string& socket_path() const;

  // The users who may connect.
  SocketAccess access() const;

 private:
  class Server;
  explicit Intake(std::unique_ptr<Server> server);
  std::unique_ptr<Server> server_;
};

// Folders in which agents of this user and of the node may have sockets, if no other user can write
// to them.
std::vector<std::string> AgentFolders();

// The path `name`.sock in $XDG_RUNTIME_DIR/stepscope, in /run/stepscope for root, else in
// /tmp/stepscope-UID. With the job as name, the processes of a job find an agent that is started
// again. The folder is made with mode 0700 when it is missing (0755 in /run) and refused when it is
// someone else's.
Result<std::string> DefaultSocketPath(const std::string& name = "agent");

}  // namespace stepscope
