#include "server/edge/loop.h"

#include <algorithm>
#include <array>
#include <thread>

#include "core/base/log.h"

namespace stepscope {
namespace {

constexpr int kMostEvents = 256;
constexpr int kMostAtOnce = 16;  // answers that this thread gives itself, in one turn
// What was sent before the stop may still be on its way through the kernel of a busy machine.
constexpr Duration kLastBytes = 20ms;
constexpr int kMostLastTurns = 80;  // of accepting, when stopping: more than a queue holds

std::uint32_t WantsOf(const EdgeConnection& connection) {
  return (connection.wants_read() ? std::uint32_t{EPOLLIN} : 0U) |
         (connection.wants_write() ? std::uint32_t{EPOLLOUT} : 0U);
}

bool Watch(const Descriptor& epoll, int operation, int descriptor, std::uint32_t events,
           std::uint64_t id) {
  epoll_event event{.events = events, .data = {.u64 = id}};
  return epoll_ctl(epoll.get(), operation, descriptor, &event) == 0;
}

}  // namespace

Loop::Loop(const LoopParts& parts)
    : parts_(parts),
      core_{.options = parts.options,
            .handlers = parts.handlers,
            .stopping = parts.stopping,
            .counters = parts.counters,
            .bodies = parts.bodies,
            .answers = parts.answers,
            .workers = parts.workers},
      addresses_(parts.options.most_per_address, parts.options.speaks_for_many),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      reserve_(OpenReserve()),
      next_id_(kFirstConnection) {
  Watch(epoll_, EPOLL_CTL_ADD, parts_.mailbox.descriptor(), EPOLLIN, kMailboxId);
}

void Loop::Run() {
  while (!cut_ && !(stopped_ && entries_.empty())) {
    Wait();
    GoOn();
    Expire();
    if (parts_.stopping && !stopped_) StopAll();
  }
  entries_.clear();
}

void Loop::Wait() {
  std::array<epoll_event, kMostEvents> events;
  const int count = epoll_wait(epoll_.get(), events.data(), kMostEvents, WaitTime());
  core_.now = clock_.Steady();
  core_.at_once_left = kMostAtOnce;
  for (int at = 0; at < count; ++at) OnEvent(events[static_cast<std::size_t>(at)]);
}

int Loop::WaitTime() const {
  if (!ready_.empty()) return 0;
  SteadyTime next = paused_until_.value_or(SteadyTime::max());
  if (const auto first = core_.deadlines.First()) next = std::min(next, first->first);
  if (const auto first = core_.idle.First()) next = std::min(next, first->first);
  if (next == SteadyTime::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - clock_.Steady());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

void Loop::OnEvent(const epoll_event& event) {
  const std::uint64_t id = event.data.u64;
  if (id == kMailboxId) return ReadMail();
  if (id >= kFirstConnection) return OnConnection(id, event.events);
  if (id - kFirstListener < listeners_.size()) AcceptFrom(listeners_[id - kFirstListener]);
}

void Loop::ReadMail() {
  Mail mail = parts_.mailbox.Take();
  cut_ = cut_ || mail.cut;
  for (Listener& listener : mail.listeners) {
    if (stopped_) break;
    listeners_.push_back(std::move(listener));
    Watch(epoll_, EPOLL_CTL_ADD, listeners_.back().descriptor(), EPOLLIN,
          kFirstListener + listeners_.size() - 1);
  }
  for (Done& done : mail.done) {
    const auto entry = entries_.find(done.connection);
    if (entry == entries_.end()) continue;  // the connection is gone
    entry->second.connection->Take(std::move(done));
    UpdateInterest(entry);
  }
}

void Loop::OnConnection(std::uint64_t id, std::uint32_t events) {
  const auto entry = entries_.find(id);
  if (entry == entries_.end()) return;
  EdgeConnection& connection = *entry->second.connection;
  const std::uint32_t in_vain = events & ~WantsOf(connection);
  const bool gone = (events & (EPOLLERR | EPOLLHUP)) != 0;
  if (gone && !connection.wants_read()) {
    connection.Close();
  } else {
    connection.Run();
  }
  UpdateInterest(entry, in_vain);
}

// Those whose turn ended before they were through.
void Loop::GoOn() {
  for (const std::uint64_t id : std::exchange(ready_, {})) {
    const auto entry = entries_.find(id);
    if (entry == entries_.end()) continue;
    entry->second.connection->Run();
    UpdateInterest(entry);
  }
}

void Loop::Expire() {
  core_.now = clock_.Steady();
  for (const Deadlines* deadlines : {&core_.deadlines, &core_.idle}) {
    while (const auto first = deadlines->First()) {
      if (first->first > core_.now) break;
      const auto entry = entries_.find(first->second);
      entry->second.connection->Expire();
      UpdateInterest(entry);
    }
  }
  if (paused_until_ && *paused_until_ <= core_.now) Pause(false);
}

// Whoever was told before now that it is connected is served: those in the queues of the listeners
// are let in, as far as a queue is long.
void Loop::StopAll() {
  stopped_ = true;
  std::this_thread::sleep_for(kLastBytes);
  StopIdle();
  for (const Listener& listener : listeners_) {
    for (int turn = 0; turn < kMostLastTurns && !AcceptFrom(listener); ++turn) {
    }
  }
  listeners_.clear();
  StopIdle();
}

void Loop::StopIdle() {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    entry->second.connection->Run();
    UpdateInterest(entry);
    entry = next;
  }
}

// After a turn: takes note of what the connection waits for. What epoll tells is narrowed only when
// it told in vain, so that most requests cost no call.
void Loop::UpdateInterest(Entries::iterator entry, std::uint32_t in_vain) {
  EdgeConnection& connection = *entry->second.connection;
  if (entry->second.address.size() > 0 && (connection.known() || connection.closed())) {
    addresses_.Remove(entry->second.address);
  }
  if (connection.closed()) {
    entries_.erase(entry);
    return;
  }
  if (connection.ready()) ready_.push_back(entry->first);
  const std::uint32_t wants = WantsOf(connection);
  const bool unwanted = (in_vain & (EPOLLIN | EPOLLOUT) & ~wants) != 0;
  if (!unwanted && (wants & ~entry->second.interest) == 0) return;
  entry->second.interest = wants;
  Watch(epoll_, EPOLL_CTL_MOD, connection.socket(), wants, entry->first);
}

}  // namespace stepscope
