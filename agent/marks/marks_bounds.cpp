// The part of MarkRegistry that keeps users within their shares.

#include "agent/marks/marks_bounds.h"

#include <algorithm>
#include <map>

#include "agent/marks/marks_registry.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr Duration kBetweenFills = 100ms;

}  // namespace

template <typename Amount>
Shares MarkRegistry::SharesOf(std::size_t most, Amount amount) const {
  Shares shares(most, options_.user);
  for (const auto& [socket, each] : peers_) shares.Add(each.user, amount(*each.process));
  return shares;
}

std::string MarkRegistry::ReasonAgainst(const MarkPeer& peer) const {
  if (peer.user != options_.user && !options_.allow_other_users && !options_.group) {
    return Format("user {} is not this agent's user {}", peer.user, options_.user);
  }
  if (closer_.Stuck(peer.user)) {
    return Format("files that user {} passed wait to be closed", peer.user);
  }
  const Shares processes =
      SharesOf(options_.max_processes, [](const MarkProcess&) { return std::size_t{1}; });
  if (processes.HasRoom(peer.user, 1)) return "";
  return Format("{} processes are connected already, {} of user {}", processes.all(),
                processes.Of(peer.user), peer.user);
}

void MarkRegistry::SumBytes(Shares& bytes) const {
  for (const auto& [socket, peer] : peers_) bytes.Add(peer.user, peer.process->bytes());
  for (const auto& [name, job] : jobs_) bytes.Add(job.user(), job.Bytes());
}

Status MarkRegistry::CheckSize(const Peer& peer) const {
  const auto rings = SharesOf(kMostRings, [](const MarkProcess& each) { return each.rings(); });
  const auto ring_bytes =
      SharesOf(kMostRingBytes, [](const MarkProcess& each) { return each.ring_bytes(); });
  const bool fits = rings.HasRoom(peer.user, 0) && ring_bytes.HasRoom(peer.user, 0) &&
                    ring_bytes.Of(peer.user) <= kMostRingBytesOfUser;
  if (!fits) {
    return Invalid(
        Format("the {} rings of user {} together are too large", rings.Of(peer.user), peer.user));
  }
  Shares bytes(kMostBytes, options_.user);
  SumBytes(bytes);
  if (bytes.HasRoom(peer.user, 0)) return {};
  return Invalid(Format("names and facts of user {} together are too large", peer.user));
}

Status MarkRegistry::CheckRank(const Peer& peer, const JobRecord& job) const {
  if (job.Knows(peer.process->rank())) return {};
  Shares ranks(kMostRanks, options_.user);
  for (const auto& [name, each] : jobs_) ranks.Add(each.user(), each.ranks());
  if (ranks.HasRoom(peer.user, 1)) return {};
  return Unavailable(Format("{} ranks are known already, {} of user {}", ranks.all(),
                            ranks.Of(peer.user), peer.user));
}

// Users have equal parts of the steps that may wait, and so have the ranks of a user.
void MarkRegistry::LimitSteps() {
  std::map<std::uint32_t, std::size_t> ranks;
  for (const auto& [name, job] : jobs_) ranks[job.user()] += job.ranks();
  for (auto& [name, job] : jobs_) {
    const std::size_t all = std::max<std::size_t>(ranks[job.user()], 1);
    job.LimitSteps(kMostWaitingSteps / ranks.size() / all);
  }
}

// Each job asks at each tick, and to add up what all processes have takes long.
void MarkRegistry::FillRooms() {
  if (filled_ != SteadyTime{} && clock_.Steady() - filled_ < kBetweenFills) return;
  filled_ = clock_.Steady();
  for (Shares* each : {&sums_, &held_, &bytes_}) each->Clear();
  for (const auto& [socket, peer] : peers_) {
    sums_.Add(peer.user, peer.process->waiting_sums());
    held_.Add(peer.user, peer.process->held_steps());
  }
  for (const auto& [name, job] : jobs_) {
    sums_.Add(job.user(), job.WaitingSums());
    reading_.try_emplace(job.user());
  }
  SumBytes(bytes_);
  std::erase_if(reading_, [this](const auto& each) {
    return std::ranges::none_of(jobs_,
                                [&](const auto& job) { return job.second.user() == each.first; });
  });
  const SteadyTime now = clock_.Steady();
  for (auto& [user, reading] : reading_) {
    const std::size_t share = kMarksASecond / reading_.size();
    const auto since = std::min<Duration>(now - reading.filled, 1s);
    const auto more = static_cast<std::size_t>(since / 1us) * share / 1'000'000;
    if (more > 0) reading.filled = now;
    reading.room = {.marks = std::min(reading.room.marks + more, share),
                    .sums = sums_.Room(user),
                    .held_steps = held_.Room(user),
                    .bytes = bytes_.Room(user)};
  }
}

}  // namespace stepscope
