#include "server/edge/loop.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "core/base/log.h"

namespace stepscope {
namespace {

constexpr int kMostEvents = 256;
constexpr int kMostAtOnce = 16;  // requests that this thread answers itself in one turn
// Bytes that were sent before the stop may still be on their way through the kernel of a busy
// machine.
constexpr Duration kLastBytes = 20ms;
constexpr int kMostLastTurns = 80;  // turns of accepting, when stopping: more than a queue holds

std::uint32_t WantsOf(const EdgeConnection& connection) {
  return (connection.wants_read() ? std::uint32_t{EPOLLIN} : 0U) |
         (connection.wants_write() ? std::uint32_t{EPOLLOUT} : 0U);
}

bool Watch(const Descriptor& epoll, int operation, int descriptor, std::uint32_t events,
           std::uint64_t id) {
  epoll_event event{.events = events, .data = {.u64 = id}};
  return epoll_ctl(epoll.get(), operation, descriptor, &event) == 0;
}

constexpr int kMostAccepts = 64;  // of one listener in one turn of the loop
constexpr Duration kPause = 100ms;

bool IsExhausted(int fault) {
  return fault == EMFILE || fault == ENFILE || fault == ENOBUFS || fault == ENOMEM;
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
    RunReady();
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

Descriptor Loop::OpenReserve() {
  return Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

// No error of accept() ends a listener: most are about the one connection that just broke. False
// when more may wait.
bool Loop::AcceptFrom(const Listener& listener) {
  for (int count = 0; count < kMostAccepts; ++count) {
    Accepted accepted = listener.Accept();
    if (accepted.descriptor) {
      Add(std::move(accepted), listener);
      continue;
    }
    const bool exhausted = IsExhausted(accepted.fault);
    if (accepted.fault == EAGAIN || accepted.fault == EWOULDBLOCK) return true;
    // Without a descriptor the kernel does not even look whether somebody waits.
    if (exhausted && !listener.HasNext()) return true;
    core_.counters.accept_failures++;
    LogDebug("accept: {}", std::strerror(accepted.fault));
    if (exhausted && !MakeRoom() && !Shed(listener)) return Pause(true), true;
  }
  return false;
}

// Connections that never had a caller come first, so that any number of silent or dripping ones
// locks nobody out.
const Deadlines* Loop::LeastDeserving() const {
  for (const Deadlines* some : {&core_.silent, &core_.slow, &core_.idle}) {
    if (some->First()) return some;
  }
  return nullptr;
}

// Ends a connection for the next one. False when all connections are at work.
bool Loop::MakeRoom() {
  const Deadlines* const some = LeastDeserving();
  if (!some) return false;
  const auto entry = entries_.find(some->First()->second);
  entry->second.connection->Shed();
  UpdateInterest(entry);
  core_.counters.shed++;
  return true;
}

// Out of descriptors: accepts the next connection with the reserve and closes it. A client that is
// only left waiting would never learn that it has to try again.
bool Loop::Shed(const Listener& listener) {
  if (!reserve_) return false;
  { const Descriptor freed(reserve_.Release()); }
  Accepted accepted = listener.Accept();
  const bool shed = bool(accepted.descriptor);
  TurnAway(std::move(accepted), listener);
  reserve_ = OpenReserve();
  if (shed) core_.counters.shed++;
  return shed;
}

// Listeners that cannot be served would wake the loop again and again.
void Loop::Pause(bool pause) {
  paused_until_ = pause ? std::optional(core_.now + kPause) : std::nullopt;
  std::uint64_t id = kFirstListener;
  for (const Listener& listener : listeners_) {
    epoll_event event{.events = pause ? 0U : std::uint32_t{EPOLLIN}, .data = {.u64 = id++}};
    epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listener.descriptor(), &event);
  }
  if (!pause && !reserve_) reserve_ = OpenReserve();
}

// What it sent already may hold descriptors.
void Loop::TurnAway(Accepted accepted, const Listener& listener) {
  if (listener.takes_descriptors()) closer_.Close(std::move(accepted.descriptor));
}

std::unique_ptr<Transport> Loop::TransportFor(int socket, const Listener& listener) {
  if (listener.takes_descriptors()) return std::make_unique<UnixTransport>(socket, closer_);
  const auto tls = parts_.tls.Read([](const auto& context) { return context; });
  if (listener.local_file() || !tls) return std::make_unique<PlainTransport>(socket);
  return tls->Accept(socket);
}

// No connection is ended for one that is not let in.
void Loop::Add(Accepted accepted, const Listener& listener) {
  core_.counters.accepted++;
  const int socket = accepted.descriptor.get();
  Entry entry{.connection = {}, .interest = EPOLLIN, .address = {}};
  std::unique_ptr<Transport> transport = TransportFor(socket, listener);
  const bool welcome = transport && addresses_.Add(accepted.peer, entry.address);
  const bool full = entries_.size() >= core_.options.most_connections;
  if (!welcome || (full && !MakeRoom())) {
    core_.counters.shed++;
    addresses_.Remove(entry.address);
    return TurnAway(std::move(accepted), listener);
  }
  const std::uint64_t id = next_id_++;
  epoll_event event{.events = EPOLLIN, .data = {.u64 = id}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket, &event);
  entry.connection = std::make_unique<EdgeConnection>(
      core_, id, std::move(accepted.descriptor), std::move(transport), std::move(accepted.peer));
  entries_.emplace(id, std::move(entry));
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

// Runs the connections whose turn ended before they were done.
void Loop::RunReady() {
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

// A client that was told that it is connected is served: connections in the queues of the listeners
// are accepted, as many as a queue holds.
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

// After a turn of a connection: tells epoll what it waits for. Events are taken out only when they
// came in vain, so that most requests cost no call.
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
