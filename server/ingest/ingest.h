#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/wire/push_answer.h"
#include "server/ingest/check/received_push.h"
#include "server/ingest/check/samples.h"
#include "server/store/jobs/jobs.h"
#include "server/store/rules/create_job.h"

namespace stepscope {

// A push that has no reply by then may be sent again: frames that were committed are recognised.
inline constexpr Duration kPushAnsweredWithin = 4s;

struct IngestOptions {
  std::vector<NewJob::Rule> default_rules;  // rules of a job that its first `started` frame creates
  std::string public_url;                   // in front of "/jobs/<name>", for webhooks
  // The bounds of the queue for the writer; more is refused with 503. A push that waited longer
  // than its sender waits is not stored: the sender has it still, and the writer would never catch
  // up.
  std::size_t queue_bound = 4096;              // pushes, one of each connection
  std::size_t queue_bytes = 64 * 1024 * 1024;  // bytes, with those that are being stored
  Duration queue_age = 2s;                     // how long the first of them waits
  std::int64_t most_new_series = 100'000;      // new series of one sender within 24 hours
  // Threads that write. With several each transaction is of one job: where Citus spreads jobs over
  // machines, one that is away holds up no other, and all of them work at once.
  std::size_t writers = 1;
  std::size_t group_frames = 256;  // most frames in one transaction ...
  Duration group_wait = 5ms;       // ... and how long the first of a group waits for others
  Duration answer_within = kPushAnsweredWithin;
  Duration lock_wait = 1s;  // how long a transaction waits for rows that another one holds
};

// The answer to a push: 200 with `answer`, or a problem.
struct PushReply {
  int status = 200;
  // 400 bad-frame, 403 node-bound, 409 gap, 409 unknown-schema, 410 unknown-job, 429 limit-series,
  // 500 internal, 503 unavailable; "" for 200
  std::string problem_code;
  std::string detail;  // one sentence
  PushAnswer answer;
  std::uint64_t expected = 0;  // with "gap"
  std::uint64_t samples = 0;   // samples stored by this push
};

// Takes the reply to a push.
using TakeReply = std::function<void(PushReply)>;

// Counters since the start and the present queue, for /metrics.
struct IngestFigures {
  std::uint64_t pushes = 0, frames = 0, samples = 0, bytes = 0;  // stored
  std::uint64_t duplicates = 0, rejected = 0, lost = 0;          // frames
  std::uint64_t groups = 0, groups_failed = 0;
  // Frames that the natural key kept out although their cursor had let them through: none, ever.
  std::uint64_t duplicate_rows = 0;
  std::uint64_t queue_length = 0;  // pushes that wait now
  std::uint64_t queue_bytes = 0;   // their bytes, and those that are being stored
  Duration queue_age{};            // how long the first waits of those that could be written
  // How long the first push waits of the sender that waits least, where several senders wait: a
  // sender alone delays only itself.
  Duration shared_age{};
  Duration commit_time{};  // spent in transactions, all together
  Duration last_commit{};
  // 95 of 100 transactions of the last minute took at most this; more when all threads that write
  // have been at one for longer.
  Duration commit_p95{};
};

// Takes the pushes of agents: checks everything, then stores the frames of many pushes in one
// transaction (group commit) and answers when it is committed. A repeat is acknowledged again, a
// hole is refused, nothing is stored twice.
//
// Threads of its own write, one by default. All functions may be called from any thread. When the
// object goes, pushes that wait are still answered.
class Ingest {
 public:
  Ingest(Database& database, const Clock& clock, IngestOptions options);
  ~Ingest();

  // Tells the frames of a push apart. Where it may not wait, nothing for a push that Push would
  // have to wait for.
  std::optional<ReceivedPush> Receive(std::string_view body, MayWait may_wait);

  // `sender` is the name of the token that it came with, as NodeBinding has it; "" where tokens are
  // not demanded. `take`
  // is called once: on this thread when the push is refused for what it is, and on the writer's
  // when its group is committed or refused, which may be long after.
  void Push(ReceivedPush received, std::string sender, TakeReply take);
  PushReply Push(std::string_view body, std::string sender = "");  // waits

  // Samples of a job that exists: it waits, too, and they have no numbers: no repeat is recognised;
  // readers give each sample once. 409 job-ended, 410 unknown-job, 429 limit-series, 503
  // unavailable.
  PushReply PushSamples(std::string job, const Samples& samples, std::string sender = "");
  IngestFigures figures() const;

  // Whether the machine of a cluster that keeps the job has not answered pushes lately: who asks it
  // would wait for nothing.
  bool Hangs(const std::string& job) const;
  // The machines of Citus that did not answer lately, by their nodeid.
  std::vector<std::string> HangingMachines() const;

 private:
  struct Core;
  void Enqueue(CheckedPush push, std::size_t body_bytes, std::string sender, TakeReply take);
  PushReply Await(const std::function<void(TakeReply)>& push) const;
  std::unique_ptr<Core> core_;
};

}  // namespace stepscope
