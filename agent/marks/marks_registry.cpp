#include "agent/marks/marks_registry.h"

#include <algorithm>
#include <utility>

#include "agent/marks/marks_bounds.h"
#include "core/base/log.h"
#include "core/wire/push_answer.h"

namespace stepscope {
namespace {

constexpr int kMostAtOnce = 128;
constexpr int kMostOfAFlood = 16;
constexpr Duration kQuiet = 10s;
constexpr Duration kPatienceWithPeers = 10s;

}  // namespace

MarkRegistry::MarkRegistry(const IntakeOptions& options, const Clock& clock, Closer closer,
                           Unwatch unwatch)
    : options_(options),
      clock_(clock),
      closer_(std::move(closer)),
      unwatch_(std::move(unwatch)),
      sums_(kMostSums, options.user),
      held_(kMostHeldSteps, options.user),
      bytes_(kMostBytes, options.user) {}

Result<std::vector<int>> MarkRegistry::Accept(const Descriptor& listener) {
  std::vector<int> sockets;
  for (int i = 0; i < (flood_ ? kMostOfAFlood : kMostAtOnce); ++i) {
    Result<MarkPeer> peer = AcceptPeer(listener);
    // Returns the sockets accepted so far; the next call meets the error again.
    if (!peer && sockets.empty()) return peer.error();
    if (!peer || !peer->socket) break;
    const int socket = peer->socket.get();
    if (Add(std::move(*peer))) sockets.push_back(socket);
  }
  return sockets;
}

bool MarkRegistry::Add(MarkPeer peer) {
  if (!connections_.Take(peer.user, 1, clock_.Steady())) {
    flood_ = true;
    Report(Format("process {} is not heard: user {} connects too often", peer.pid, peer.user));
    closer_.Close(peer.user, std::move(peer.socket));  // with what it has passed
    return false;
  }
  const std::string reason = ReasonAgainst(peer);
  const int socket = peer.socket.get();
  const std::uint32_t user = peer.user;
  auto process = std::make_unique<MarkProcess>(std::move(peer), clock_, closer_);
  if (!reason.empty()) {
    process->TakeNoRings();
    Refuse(*process, reason);
    return false;
  }
  peers_[socket] = {std::move(process), user, clock_.Steady()};
  return true;
}

bool MarkRegistry::Serve(int socket) {
  const auto place = peers_.find(socket);
  if (place == peers_.end()) return false;
  Peer& peer = place->second;
  // What it says next may bring more files that cannot be closed.
  if (closer_.Stuck(peer.user)) {
    Remove(place);
    return false;
  }
  MarkProcess& process = *peer.process;
  const bool introduced = process.introduced(), on_cpu = process.Heard().on_cpu;
  const std::size_t rings = process.rings(), bytes = process.bytes();
  const std::size_t said = process.messages();
  Result<MarkProcess::State> state = process.Receive();
  const auto messages = static_cast<double>(process.messages() - said);
  if (!messages_.Take(peer.user, messages, clock_.Steady())) {
    state = Invalid(Format("user {} sends too many messages", peer.user));
  }
  if (process.Heard().on_cpu != on_cpu) ++changes_;
  const bool more = process.rings() != rings || process.bytes() > bytes;
  const Status fits = more ? CheckSize(peer) : Status();
  if (!fits) state = fits.error();
  if (fits && process.introduced() && (!introduced || peer.waits)) Introduce(peer);
  if (!state) Refuse(process, state.error().message);
  if (state && state.value() != MarkProcess::State::kEnded) return true;
  Remove(place);
  return false;
}

std::optional<Result<std::string>> MarkRegistry::NameOf(const Peer& peer) const {
  if (!options_.name_job) return std::string();
  return options_.name_job(peer.process->source().hello, peer.process->caller());
}

Result<JobRecord*> MarkRegistry::JobOf(const Peer& peer, const std::string& name) {
  const auto found = jobs_.find(name);
  if (found != jobs_.end()) {
    // A job takes processes of its own user only, or another user could put marks into it.
    const bool theirs = found->second.user() == peer.user || !options_.name_job;
    if (theirs) return &found->second;
    return Invalid(Format("job {} belongs to user {}", name, found->second.user()));
  }
  Shares jobs(options_.max_jobs, options_.user);
  for (const auto& [other, job] : jobs_) jobs.Add(job.user(), 1);
  if (!jobs.HasRoom(peer.user, 1)) {
    return Unavailable(Format("{} jobs are running already, {} of user {}", jobs.all(),
                              jobs.Of(peer.user), peer.user));
  }
  // The service takes so many new jobs of a token, which the node's users share.
  if (peer.user != options_.user && !begun_.Take(peer.user, 1, clock_.Steady())) {
    return Unavailable(Format("user {} began {} jobs within 24 hours, which are the most",
                              peer.user, kJobsInADay));
  }
  return &jobs_.try_emplace(name, peer.user, span_room_).first->second;
}

void MarkRegistry::Introduce(Peer& peer) {
  const auto name = NameOf(peer);
  peer.waits = !name;
  if (!name) return;
  const Result<JobRecord*> job = *name ? JobOf(peer, **name) : Result<JobRecord*>(name->error());
  const Status good = job ? CheckRank(peer, **job) : Status(job.error());
  if (!good) {
    // The process stays connected without being read, so that it does not connect again.
    peer.process->TakeNoRings();
    Refuse(*peer.process, good.error().message);
    return;
  }
  ++changes_;
  peer.job = *job;
  if (!options_.schedule.empty()) {
    peer.process->Ask(std::string(kWindowCommand), options_.schedule);
  }
  peer.job->Join(*peer.process, clock_.Now());
  filled_ = {};  // its user may have no room yet
  LimitSteps();
  peer.process->Answer(false, "");
}

void MarkRegistry::Remove(Peers::iterator place) {
  ++changes_;
  Peer& peer = place->second;
  if (peer.job != nullptr) {
    FillRooms();
    peer.job->Detach(*peer.process, RoomOf(peer.job->user()));
  }
  if (unwatch_) unwatch_(place->first);
  peers_.erase(place);
}

void MarkRegistry::DropSilent() {
  const SteadyTime now = clock_.Steady();
  for (auto place = peers_.begin(); place != peers_.end();) {
    const auto each = place++;
    Peer& peer = each->second;
    if (peer.waits) Introduce(peer);
    const bool silent = !peer.process->introduced() || peer.waits;
    if (!silent || now - peer.came < kPatienceWithPeers) continue;
    Refuse(*peer.process,
           peer.waits ? "the name of its job cannot be found out" : "it said no hello within 10 s");
    Remove(each);
  }
}

void MarkRegistry::Refuse(MarkProcess& process, std::string_view reason) {
  process.Answer(true, std::string(reason));
  Report(Format("process {} is not heard: {}", process.source().pid, Printable(reason)));
}

// Bounds the lines in the log: a process may connect again for ever.
void MarkRegistry::Report(std::string_view sentence) {
  if (clock_.Steady() < quiet_until_) {
    ++suppressed_;
    return;
  }
  quiet_until_ = clock_.Steady() + kQuiet;
  LogWarning("marks: {} ({} more unsaid)", sentence, std::exchange(suppressed_, 0));
}

void MarkRegistry::ReadRings() {
  DropSilent();
  FillRooms();
  for (auto& [name, job] : jobs_) job.ReadRings(RoomOf(job.user()));
}

JobRecord* MarkRegistry::Read(const std::string& name) {
  const auto job = jobs_.find(name);
  if (job == jobs_.end()) return nullptr;
  FillRooms();
  job->second.ReadRings(RoomOf(job->second.user()));
  return &job->second;
}

IntakeBatch MarkRegistry::Drain(const std::string& name) {
  JobRecord* const job = Read(name);
  return job == nullptr ? IntakeBatch() : job->Drain(clock_.Now(), clock_.Steady());
}

void MarkRegistry::TakeMetrics(const std::string& name, const UseMetric& use) {
  if (JobRecord* const job = Read(name)) job->TakeMetrics(use);
}

void MarkRegistry::TakeEvaluated(const std::string& name, const UseEvaluated& use) {
  const auto job = jobs_.find(name);
  if (job != jobs_.end()) job->second.TakeEvaluated(use);
}

std::size_t MarkRegistry::Ask(const std::string& name, const std::string& command,
                              const std::string& argument) {
  const auto job = jobs_.find(name);
  return job == jobs_.end() ? 0 : job->second.Ask(command, argument);
}

std::string MarkRegistry::KeepSpans(const std::string& name, const SpanWindow& window) {
  JobRecord* const job = Read(name);
  return job == nullptr ? "no training process is connected"
                        : job->KeepSpans(window, clock_.Steady());
}

std::vector<HeardJob> MarkRegistry::Jobs() const {
  std::vector<HeardJob> jobs;
  for (const auto& [name, job] : jobs_) jobs.push_back({name, job.user(), job.Processes()});
  return jobs;
}

bool MarkRegistry::Forget(const std::string& name) {
  const auto job = jobs_.find(name);
  if (job == jobs_.end()) return true;
  if (!job->second.Done()) return false;
  ++changes_;
  jobs_.erase(job);
  return true;
}

}  // namespace stepscope
