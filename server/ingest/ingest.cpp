// The calls that bring pushes, and the threads that write them.

#include "server/ingest/ingest.h"

#include <exception>
#include <future>
#include <optional>
#include <set>
#include <vector>

#include "core/base/guarded.h"
#include "core/base/log.h"
#include "core/base/worker.h"
#include "server/ingest/check/check_push.h"
#include "server/ingest/check/known_schemas.h"
#include "server/ingest/check/sample_frames.h"
#include "server/ingest/check/sample_sessions.h"
#include "server/ingest/check/series_names.h"
#include "server/ingest/cluster_writes.h"
#include "server/ingest/job_pauses.h"
#include "server/ingest/push_queue.h"
#include "server/ingest/recent.h"
#include "server/ingest/replies.h"
#include "server/ingest/store_parts.h"

namespace stepscope {
namespace {

// The transactions of the last minute that were committed, and since when those of now run.
struct Commits {
  RecentTimes recent;
  std::multiset<SteadyTime> running;
};

PushReply TooManyWait() {
  return Refused(503, "unavailable", "ingest: too many pushes wait; send it again");
}

PushReply TakesLong() {
  return Refused(503, "unavailable", "ingest: the database takes long; send it again");
}

// What is not understood will not be, however often it is sent: it is a fault of ours.
PushReply NotStored(const Error& error) {
  if (error.code == Code::kInternal) return Refused(500, "internal", error.message);
  return Refused(503, "unavailable", error.message);
}

std::optional<Error> WhyNotStored(const Status& stored, const WaitingPush& waiting) {
  return stored ? waiting.outcome.not_stored : std::optional(stored.error());
}

// A sender that gets no reply, for want of memory, asks again; the others get theirs.
void SendReply(const TakeReply& take, const std::function<PushReply()>& reply) {
  try {
    take(reply());
  } catch (const std::exception&) {
    LogError("ingest: a reply was not sent: out of memory, or a fault of ours");
  }
}

}  // namespace

struct Ingest::Core {
  Database& database;
  const Clock& clock;
  const IngestOptions options;
  KnownSchemas schemas;
  SeriesNames series;
  SampleSessions sessions;
  BoundNodes bound;
  ClusterWrites cluster;
  PushQueue queue;
  JobPauses held;  // jobs that held up others, because another transaction has rows of them
  Guarded<IngestFigures> figures;
  Guarded<Commits> commits;
  std::vector<Worker> writers;  // last: their threads use the members above

  Core(Database& db, const Clock& time, IngestOptions with)
      : database(db),
        clock(time),
        options(std::move(with)),
        series(options.most_new_series),
        cluster(db, options, time, bound),
        queue(options, time, cluster.machines()) {}

  void Run(std::stop_token stop);
  void Store(const PushBatch& batch);
  void Remember(const WaitingPush& waiting);
  Status StoreAll(const PushBatch& batch);
  void Count(const PushBatch& batch, SteadyTime begun, bool stored);
};

// Writes pushes as they come; when the stop is asked for, until none waits.
void Ingest::Core::Run(std::stop_token stop) {
  for (;;) {
    const bool some = queue.WaitForSome(stop, 1s);
    if (some) queue.WaitUntilFull(stop, options.group_wait);
    for (const auto& late : queue.TakeLate()) SendReply(late->take, TakesLong);
    if (some) Store(queue.TakeBatch());
    if (!some && stop.stop_requested() && !queue.some()) return;
  }
}

void Ingest::Core::Store(const PushBatch& batch) {
  if (batch.empty()) return;
  const SteadyTime begun = clock.Steady();
  commits.Change([&](Commits& now) { now.running.insert(begun); });
  const Status stored = StoreAll(batch);
  if (!stored) LogWarning("ingest: a group was not stored: {}", stored.error().message);
  Count(batch, begun, stored.ok());
  PushQueue::Taken taken{batch.front()->push.job, 0};
  if (options.writers > 1) cluster.Note(taken.job, stored, begun);
  for (const auto& waiting : batch) {
    const std::optional<Error> why = WhyNotStored(stored, *waiting);
    const std::optional<Error>& left = waiting->outcome.not_stored;
    held.Note(waiting->push.job, left ? Status(*left) : Status(), clock.Steady());
    if (!why) Remember(*waiting);
    SendReply(waiting->take, [&] {
      return why ? NotStored(*why) : ReplyTo(waiting->push, waiting->outcome, clock.Now());
    });
    taken.bytes += waiting->bytes;
  }
  queue.Release(taken);
}

// Remembers schemas when they are committed, and not before.
void Ingest::Core::Remember(const WaitingPush& waiting) {
  const PushOutcome& outcome = waiting.outcome;
  if (outcome.gap || outcome.unknown_job || outcome.unknown_schema > 0) {
    schemas.Forget(waiting.push);
  }
  for (const TableFrame* table : outcome.with_schema) {
    schemas.Remember(waiting.push, outcome.job_id, table->schema_hash, *table->schema);
  }
}

Status Ingest::Core::StoreAll(const PushBatch& batch) {
  std::vector<GroupPart> parts;
  for (const auto& waiting : batch) {
    parts.push_back({{&waiting->push, 0, waiting->push.frames.size()}, &waiting->outcome});
  }
  if (options.writers > 1) {
    if (const auto stored = cluster.Store(batch.front()->push.job, parts)) return *stored;
  }
  Result<Database::Lease> connection = database.Acquire();
  if (!connection) return connection.error();
  std::uint64_t duplicate_rows = 0;
  const Status stored = StoreParts({**connection, options, clock, bound}, parts, duplicate_rows);
  figures.Change([&](IngestFigures& now) { now.duplicate_rows += duplicate_rows; });
  return stored;
}

void Ingest::Core::Count(const PushBatch& batch, SteadyTime begun, bool stored) {
  const SteadyTime ended = clock.Steady();
  const Duration took = ended - begun;
  commits.Change([&](Commits& now) {
    if (stored) now.recent.Add(ended, took);
    now.running.erase(now.running.find(begun));
  });
  figures.Change([&](IngestFigures& now) {
    ++(stored ? now.groups : now.groups_failed);
    now.commit_time += took;
    now.last_commit = took;
    for (const auto& waiting : batch) {
      const PushOutcome& outcome =
          waiting->outcome;  // a group that failed has parts that were stored
      if (stored && !outcome.not_stored) ++now.pushes;
      now.frames += outcome.frames;
      now.samples += outcome.samples;
      now.bytes += outcome.bytes;
      now.duplicates += outcome.duplicates;
      now.rejected += outcome.refused;
      now.lost += outcome.lost;
    }
  });
}

Ingest::Ingest(Database& database, const Clock& clock, IngestOptions options)
    : core_(std::make_unique<Core>(database, clock, std::move(options))) {
  Core& core = *core_;
  for (std::size_t i = 0; i < core.options.writers; ++i) {
    core.writers.emplace_back("ingest", [&core](std::stop_token stop) { core.Run(stop); });
  }
}

// Pushes that came before are written; later ones are refused.
Ingest::~Ingest() {
  core_->queue.Close();
  for (Worker& writer : core_->writers) writer.RequestStop();
  for (Worker& writer : core_->writers) writer.Join();
}

std::optional<ReceivedPush> Ingest::Receive(std::string_view body, MayWait may_wait) {
  return ReceivePush(
      body, [this](const FrameHead& head) { return core_->schemas.Recall(head); }, may_wait);
}

void Ingest::Push(ReceivedPush received, std::string sender, TakeReply take) {
  const std::size_t bytes = received.bytes;
  if (!received.refusal && !core_->queue.HasRoomFor(sender, received.push.job, bytes)) {
    return take(TooManyWait());
  }
  auto checked = CheckPush(std::move(received), [this](const FrameHead& head) {
    return core_->schemas.Load(core_->database, head);
  });
  if (const auto* refusal = std::get_if<PushRefusal>(&checked)) {
    return take(Refused(refusal->status, refusal->code, refusal->detail));
  }
  Enqueue(std::move(std::get<CheckedPush>(checked)), bytes, std::move(sender), std::move(take));
}

PushReply Ingest::Push(std::string_view body, std::string sender) {
  auto received = Receive(body, MayWait::kYes);
  return Await(
      [&](TakeReply take) { Push(std::move(*received), std::move(sender), std::move(take)); });
}

PushReply Ingest::PushSamples(std::string job, const Samples& samples, std::string sender) {
  CheckedPush push;
  push.job = std::move(job);
  push.node = samples.node;
  push.session = core_->sessions.Of(samples.node);
  push.frames = ToFrames(samples);
  push.numbered = false;
  std::size_t bytes = 0;
  for (const CheckedFrame& frame : push.frames) {
    bytes += std::get<TableFrame>(frame.content).payload.size();
  }
  return Await(
      [&](TakeReply take) { Enqueue(std::move(push), bytes, std::move(sender), std::move(take)); });
}

// The reply may come when nobody waits for it any more.
PushReply Ingest::Await(const std::function<void(TakeReply)>& push) const {
  const auto reply = std::make_shared<std::promise<PushReply>>();
  std::future<PushReply> waited = reply->get_future();
  push([reply](PushReply said) { reply->set_value(std::move(said)); });
  if (waited.wait_for(core_->options.answer_within) == std::future_status::timeout) {
    return TakesLong();
  }
  return waited.get();
}

void Ingest::Enqueue(CheckedPush push, std::size_t body_bytes, std::string sender, TakeReply take) {
  auto waiting = std::make_unique<WaitingPush>();
  waiting->push = std::move(push);
  waiting->push.sender = std::move(sender);
  waiting->bytes = body_bytes;
  waiting->since = core_->clock.Steady();
  if (!core_->series.Take(waiting->push, core_->clock.Steady())) {
    return take(
        Refused(429, "limit-series",
                Format("{} series were new within 24 hours, which is the most for one token",
                       core_->options.most_new_series)));
  }
  waiting->take = std::move(take);
  const std::string& job = waiting->push.job;
  if (core_->held.IsPaused(job, waiting->since)) {
    return waiting->take(
        Refused(503, "unavailable", "ingest: something else writes to this job; send it again"));
  }
  if (core_->options.writers > 1 && (core_->cluster.IsPaused(job) || core_->queue.Hangs(job))) {
    return waiting->take(Refused(503, "unavailable",
                                 "ingest: the machine of this job does not answer, or something "
                                 "else writes to the job; send it again"));
  }
  if (core_->queue.Add(waiting)) return;
  waiting->take(TooManyWait());
}

bool Ingest::Hangs(const std::string& job) const {
  return core_->options.writers > 1 && (core_->cluster.Hangs(job) || core_->queue.Hangs(job));
}

std::vector<std::string> Ingest::HangingMachines() const {
  return core_->cluster.HangingMachines();
}

IngestFigures Ingest::figures() const {
  IngestFigures now = core_->figures.Read([](const IngestFigures& value) { return value; });
  now.commit_p95 = core_->commits.Read([this](const Commits& commits) {
    const SteadyTime at = core_->clock.Steady();
    const bool all = commits.running.size() >= core_->options.writers;
    const Duration running = all ? at - *commits.running.rbegin() : Duration::zero();
    return std::max(commits.recent.P95(at), running);
  });
  core_->queue.FillFigures(now);
  return now;
}

}  // namespace stepscope
