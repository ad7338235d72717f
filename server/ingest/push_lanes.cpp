#include "server/ingest/push_lanes.h"

#include <algorithm>
#include <utility>

namespace stepscope {

void PushLanes::Add(Waiting push) {
  const std::string& sender_name = push->push.sender;
  auto known = by_name_.find(sender_name);
  if (known == by_name_.end()) {
    senders_.push_back({sender_name, {}, {}, 0, 0});
    known = by_name_.emplace(sender_name, std::prev(senders_.end())).first;
  }
  Sender& sender = *known->second;
  auto job = sender.by_name.find(push->push.job);
  if (job == sender.by_name.end()) {
    sender.jobs.push_back({push->push.job, {}, 0});
    job = sender.by_name.emplace(push->push.job, std::prev(sender.jobs.end())).first;
  }
  ++pushes_, ++sender.pushes;
  frames_ += push->push.frames.size();
  bytes_ += push->bytes;
  sender.bytes += push->bytes;
  job->second->bytes += push->bytes;
  job->second->waiting.push_back(std::move(push));
}

const WaitingPush* PushLanes::Next() const {
  return senders_.empty() ? nullptr : senders_.front().jobs.front().waiting.front().get();
}

// The sender, and its job, are last in turn from now on; those without pushes go.
PushLanes::Waiting PushLanes::TakeFrom(Senders::iterator sender, std::list<Job>::iterator job) {
  Waiting push = std::move(job->waiting.front());
  job->waiting.pop_front();
  --pushes_, --sender->pushes;
  frames_ -= push->push.frames.size();
  for (std::size_t* bytes : {&bytes_, &sender->bytes, &job->bytes}) *bytes -= push->bytes;
  if (job->waiting.empty()) {
    sender->by_name.erase(job->name);
    sender->jobs.erase(job);
  } else {
    sender->jobs.splice(sender->jobs.end(), sender->jobs, job);
  }
  if (sender->jobs.empty()) {
    by_name_.erase(sender->name);
    senders_.erase(sender);
  } else {
    senders_.splice(senders_.end(), senders_, sender);
  }
  return push;
}

PushLanes::Waiting PushLanes::TakeNext() {
  if (senders_.empty()) return nullptr;
  return TakeFrom(senders_.begin(), senders_.front().jobs.begin());
}

std::optional<std::pair<std::string, std::string>> PushLanes::NextJob(const MayGo& may) const {
  for (const Sender& sender : senders_) {
    for (const Job& job : sender.jobs) {
      if (may(job.name)) return std::pair(sender.name, job.name);
    }
  }
  return std::nullopt;
}

bool PushLanes::HasJob(const MayGo& may) const {
  return NextJob(may).has_value();
}

std::vector<PushLanes::Waiting> PushLanes::TakeJob(const MayGo& may, std::size_t most_frames) {
  std::vector<Waiting> taken;
  const auto next = NextJob(may);
  if (!next) return taken;
  std::size_t frames = 0;
  while (const Job* lane = Find(next->first, next->second)) {
    frames += lane->waiting.front()->push.frames.size();
    if (!taken.empty() && frames > most_frames) break;
    const auto sender = by_name_.find(next->first)->second;
    taken.push_back(TakeFrom(sender, sender->by_name.find(next->second)->second));
  }
  return taken;
}

std::vector<PushLanes::Waiting> PushLanes::TakeBefore(SteadyTime then) {
  std::vector<std::pair<std::string, std::string>> late;
  for (const Sender& sender : senders_) {
    for (const Job& job : sender.jobs) {
      if (job.waiting.front()->since < then) late.emplace_back(sender.name, job.name);
    }
  }
  std::vector<Waiting> taken;
  for (const auto& [sender, job] : late) {
    for (const Job* lane = Find(sender, job); lane && lane->waiting.front()->since < then;
         lane = Find(sender, job)) {
      const auto of = by_name_.find(sender)->second;
      taken.push_back(TakeFrom(of, of->by_name.find(job)->second));
    }
  }
  return taken;
}

const PushLanes::Job* PushLanes::Find(const std::string& sender, const std::string& job) const {
  const auto known = by_name_.find(sender);
  if (known == by_name_.end()) return nullptr;
  const auto lane = known->second->by_name.find(job);
  return lane == known->second->by_name.end() ? nullptr : &*lane->second;
}

std::size_t PushLanes::BytesOf(const std::string& sender) const {
  const auto known = by_name_.find(sender);
  return known == by_name_.end() ? 0 : known->second->bytes;
}

std::size_t PushLanes::BytesOf(const std::string& sender, const std::string& job) const {
  const Job* lane = Find(sender, job);
  return lane ? lane->bytes : 0;
}

std::size_t PushLanes::PushesOf(const std::string& sender) const {
  const auto known = by_name_.find(sender);
  return known == by_name_.end() ? 0 : known->second->pushes;
}

std::optional<SteadyTime> PushLanes::OldestOf(const Sender& sender, const MayGo& may) {
  std::optional<SteadyTime> oldest;
  for (const Job& job : sender.jobs) {
    if (may && !may(job.name)) continue;
    const SteadyTime since = job.waiting.front()->since;
    oldest = std::min(oldest.value_or(since), since);
  }
  return oldest;
}

std::optional<SteadyTime> PushLanes::Oldest(const MayGo& may) const {
  std::optional<SteadyTime> oldest;
  for (const Sender& sender : senders_) {
    const auto since = OldestOf(sender, may);
    if (since) oldest = std::min(oldest.value_or(*since), *since);
  }
  return oldest;
}

std::optional<SteadyTime> PushLanes::LeastOldest(const MayGo& may) const {
  std::optional<SteadyTime> youngest;
  std::size_t senders = 0;
  bool named = true;
  for (const Sender& sender : senders_) {
    const auto since = OldestOf(sender, may);
    if (!since) continue;
    youngest = std::max(youngest.value_or(*since), *since);
    named = named && !sender.name.empty();
    ++senders;
  }
  return senders == 1 && named ? std::nullopt : youngest;
}

std::optional<SteadyTime> PushLanes::Oldest(const std::string& sender,
                                            const std::string& job) const {
  const Job* lane = Find(sender, job);
  return lane ? std::optional(lane->waiting.front()->since) : std::nullopt;
}

}  // namespace stepscope
