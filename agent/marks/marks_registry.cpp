#include "agent/marks/marks_registry.h"

#include <algorithm>
#include <utility>

#include "core/base/log.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostRanks = 4096;  // in all jobs
constexpr std::size_t kMostRingBytes = std::size_t{512} << 20;
constexpr std::size_t kMostWaitingSteps = std::size_t{1} << 20;  // in all ranks
constexpr int kMostAtOnce = 128;
constexpr Duration kQuiet = 10s;

}  // namespace

std::size_t MarkRegistry::Share(std::uint32_t user, std::size_t most) const {
  return user == options_.user ? most : most / 2;
}

std::string MarkRegistry::ReasonAgainst(const MarkPeer& peer) const {
  if (peer.user != options_.user && !options_.allow_other_users && !options_.group) {
    return Format("user {} is not this agent's user {}", peer.user, options_.user);
  }
  if (closer_.Stuck(peer.user)) {
    return Format("files that user {} passed wait to be closed", peer.user);
  }
  const auto theirs = static_cast<std::size_t>(std::ranges::count_if(
      peers_, [&](const auto& each) { return each.second.user == peer.user; }));
  if (peers_.size() < options_.max_processes && theirs < Share(peer.user, options_.max_processes))
    return "";
  return Format("{} processes are connected already, {} of user {}", peers_.size(), theirs,
                peer.user);
}

Result<std::vector<int>> MarkRegistry::Accept(const Descriptor& listener) {
  std::vector<int> sockets;
  for (int i = 0; i < kMostAtOnce; ++i) {
    Result<MarkPeer> peer = AcceptPeer(listener);
    // Returns the sockets accepted so far; the next call meets the error again.
    if (!peer && sockets.empty()) return peer.error();
    if (!peer || !peer->socket) break;
    const int socket = peer->socket.get();
    const std::string reason = ReasonAgainst(*peer);
    const std::uint32_t user = peer->user;
    auto process = std::make_unique<MarkProcess>(std::move(*peer), clock_, closer_);
    if (reason.empty()) {
      peers_[socket] = {std::move(process), user};
      sockets.push_back(socket);
    } else {
      process->TakeNoRings();
      Refuse(*process, reason);
    }
  }
  return sockets;
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
  const bool introduced = process.introduced();
  const std::size_t mapped = process.ring_bytes();
  Result<MarkProcess::State> state = process.Receive();
  if (process.ring_bytes() != mapped) {
    if (const Status small = CheckRings(peer); !small) state = small.error();
  }
  if (process.introduced() && !introduced) Introduce(peer);
  if (!state) Refuse(process, state.error().message);
  if (state && state.value() != MarkProcess::State::kEnded) return true;
  Remove(place);
  return false;
}

Status MarkRegistry::CheckRings(const Peer& peer) const {
  std::size_t all = 0, theirs = 0;
  for (const auto& [socket, each] : peers_) {
    const std::size_t bytes = each.process->ring_bytes();
    all += bytes;
    if (each.user == peer.user) theirs += bytes;
  }
  const bool fits = all <= kMostRingBytes && theirs <= Share(peer.user, kMostRingBytes);
  return fits ? Status() : Invalid("all rings together are too large");
}

Result<JobRecord*> MarkRegistry::JobOf(const Peer& peer) {
  const MarkSource& source = peer.process->source();
  const Result<std::string> name =
      options_.name_job ? options_.name_job(source.hello, source.pid) : std::string();
  if (!name) return name.error();
  const auto found = jobs_.find(*name);
  if (found != jobs_.end()) {
    // A job takes processes of its own user only, or another user could put marks into it.
    const bool theirs = found->second.user() == peer.user || !options_.name_job;
    if (theirs) return &found->second;
    return Invalid(Format("job {} belongs to user {}", *name, found->second.user()));
  }
  const auto jobs = static_cast<std::size_t>(std::ranges::count_if(
      jobs_, [&](const auto& each) { return each.second.user() == peer.user; }));
  if (jobs_.size() < options_.max_jobs && jobs < Share(peer.user, options_.max_jobs))
    return &jobs_.emplace(*name, peer.user).first->second;
  return Unavailable(
      Format("{} jobs are running already, {} of user {}", jobs_.size(), jobs, peer.user));
}

Status MarkRegistry::CheckRank(const Peer& peer, const JobRecord& job) const {
  if (job.Knows(peer.process->rank())) return {};
  std::size_t all = 0, theirs = 0;
  for (const auto& [name, each] : jobs_) {
    all += each.ranks();
    if (each.user() == peer.user) theirs += each.ranks();
  }
  const bool fits = all < kMostRanks && theirs < Share(peer.user, kMostRanks);
  return fits ? Status() : Unavailable(Format("{} ranks are known already", all));
}

void MarkRegistry::Introduce(Peer& peer) {
  const Result<JobRecord*> job = JobOf(peer);
  const Status good = job ? CheckRank(peer, **job) : Status(job.error());
  if (!good) {
    // The process stays connected without being read, so that it does not connect again.
    peer.process->TakeNoRings();
    Refuse(*peer.process, good.error().message);
    return;
  }
  ++changes_;
  peer.job = *job;
  peer.job->Join(*peer.process, clock_.Now());
  std::size_t ranks = 0;
  for (const auto& [name, each] : jobs_) ranks += each.ranks();
  for (auto& [name, each] : jobs_) each.LimitSteps(kMostWaitingSteps / ranks);
  peer.process->Answer(false, "");
}

void MarkRegistry::Remove(Peers::iterator place) {
  ++changes_;
  Peer& peer = place->second;
  if (peer.job != nullptr) peer.job->Detach(*peer.process);
  peers_.erase(place);
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
  for (auto& [name, job] : jobs_) job.ReadRings();
}

JobRecord* MarkRegistry::Read(const std::string& name) {
  const auto found = jobs_.find(name);
  const JobRecord* wanted = found == jobs_.end() ? nullptr : &found->second;
  serving_.clear();
  for (const auto& [socket, peer] : peers_) {
    if (peer.job == nullptr || peer.job == wanted) serving_.push_back(socket);
  }
  for (const int socket : serving_) Serve(socket);
  const auto job = jobs_.find(name);
  if (job == jobs_.end()) return nullptr;
  job->second.ReadRings();
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
  if (JobRecord* const job = Read(name)) job->TakeEvaluated(use);
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
