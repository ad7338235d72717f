#include "agent/marks/marks_registry.h"

#include <algorithm>
#include <utility>

#include "core/base/log.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostRanks = 4096;
constexpr std::size_t kMostRingBytes = std::size_t{512} << 20;
constexpr int kMostAtOnce = 128;
constexpr Duration kQuiet = 10s;

}  // namespace

std::string MarkRegistry::ReasonAgainst(const MarkPeer& peer) const {
  if (peer.user != options_.user && !options_.allow_other_users) {
    return Format("user {} is not this agent's user {}", peer.user, options_.user);
  }
  if (processes_.size() >= options_.max_processes) {
    return Format("{} processes are connected already", options_.max_processes);
  }
  return "";
}

Result<std::vector<int>> MarkRegistry::Accept(const Descriptor& listener) {
  std::vector<int> sockets;
  for (int i = 0; i < kMostAtOnce; ++i) {
    Result<MarkPeer> peer = AcceptPeer(listener);
    // The ones before it are to be watched; it comes again.
    if (!peer && sockets.empty()) return peer.error();
    if (!peer || !peer->socket) break;
    const int socket = peer->socket.get();
    const std::string reason = ReasonAgainst(*peer);
    auto process = std::make_unique<MarkProcess>(std::move(peer->socket), peer->pid);
    if (reason.empty()) {
      processes_[socket] = std::move(process);
      sockets.push_back(socket);
    } else {
      Refuse(*process, reason);
    }
  }
  return sockets;
}

void MarkRegistry::Serve(int socket) {
  const auto place = processes_.find(socket);
  if (place == processes_.end()) return;
  MarkProcess& process = *place->second;
  const bool introduced = process.introduced();
  const std::size_t mapped = process.ring_bytes();
  Result<MarkProcess::State> state = process.Receive();
  ring_bytes_ += process.ring_bytes() - mapped;
  if (ring_bytes_ > kMostRingBytes) state = Invalid("all rings together are too large");
  if (process.introduced() && !introduced) Introduce(process);
  if (!state) Refuse(process, state.error().message);
  if (!state || state.value() == MarkProcess::State::kEnded) Remove(place);
}

void MarkRegistry::Introduce(MarkProcess& process) {
  if (!ranks_.contains(process.rank()) && ranks_.size() >= kMostRanks) {
    // It stays connected, unheard: so it does not come back.
    Refuse(process, Format("more than {} ranks", kMostRanks));
    return;
  }
  Rank& rank = ranks_[process.rank()];
  if (rank.processes.empty() && !rank.known) rank.came = clock_.Now();
  rank.processes.push_back(&process);
  process.Answer(false, "");
}

void MarkRegistry::Remove(Processes::iterator place) {
  MarkProcess& process = *place->second;
  const auto found = ranks_.find(process.rank());
  if (found != ranks_.end() && std::ranges::count(found->second.processes, &process) > 0) {
    Rank& rank = found->second;
    // All of them, so that a short-lived child does not get ahead of the process it came from.
    for (MarkProcess* each : rank.processes) each->ReadRings(rank.record);
    rank.pending = FactsOf(rank);
    process.Leave(rank.record);
    std::erase(rank.processes, &process);
  }
  ring_bytes_ -= process.ring_bytes();
  processes_.erase(place);
}

void MarkRegistry::Refuse(MarkProcess& process, std::string_view reason) {
  process.Answer(true, std::string(reason));
  Report(Format("process {} is not heard: {}", process.source().pid, Printable(reason)));
}

// A process that comes back for ever must not fill the log.
void MarkRegistry::Report(std::string_view sentence) {
  if (clock_.Steady() < quiet_until_) {
    ++unsaid_;
    return;
  }
  quiet_until_ = clock_.Steady() + kQuiet;
  LogWarning("marks: {} ({} more unsaid)", sentence, std::exchange(unsaid_, 0));
}

void MarkRegistry::ReadRings() {
  for (auto& [number, rank] : ranks_) {
    for (MarkProcess* process : rank.processes) process->ReadRings(rank.record);
  }
}

std::string MarkRegistry::FactsOf(const Rank& rank) const {
  std::vector<const MarkSource*> all;
  for (const MarkProcess* process : rank.processes) all.push_back(&process->source());
  return rank.record.Facts(*all.front(), all);
}

void MarkRegistry::DrainRank(std::int32_t number, Rank& rank, IntakeBatch& batch) {
  const bool alive = !rank.processes.empty();
  std::string facts = alive ? FactsOf(rank) : std::exchange(rank.pending, "");
  if (!facts.empty() && facts != rank.told) {
    batch.rank_started.push_back({number, rank.known ? clock_.Now() : rank.came, facts});
    rank.told = std::move(facts);
    rank.known = true;
  }
  RankMarks marks = rank.record.Take(number);
  if (!marks.steps.empty() || !marks.annotations.empty()) batch.marks.push_back(std::move(marks));
  if (alive || !rank.known) return;
  batch.rank_ended.push_back({number, clock_.Now()});
  rank.known = false;
  rank.told.clear();
}

IntakeBatch MarkRegistry::Drain() {
  std::vector<int> sockets;
  for (const auto& [socket, process] : processes_) sockets.push_back(socket);
  for (const int socket : sockets) Serve(socket);
  ReadRings();
  IntakeBatch batch;
  for (auto& [number, rank] : ranks_) DrainRank(number, rank, batch);
  return batch;
}

}  // namespace stepscope
