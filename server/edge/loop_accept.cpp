// How the loop lets connections in, and turns them away.

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "core/base/log.h"
#include "server/edge/loop.h"

namespace stepscope {
namespace {

constexpr int kMostAccepts = 64;  // of one listener in one turn
constexpr Duration kPause = 100ms;

bool IsExhausted(int fault) {
  return fault == EMFILE || fault == ENFILE || fault == ENOBUFS || fault == ENOMEM;
}

}  // namespace

Descriptor Loop::OpenReserve() {
  return Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

// No error of accept() ends a listener: most are about the one connection that just broke. False
// when more may wait.
bool Loop::AcceptFrom(const Listener& listener) {
  for (int count = 0; count < kMostAccepts; ++count) {
    Accepted accepted = listener.Accept();
    if (accepted.descriptor) {
      Add(std::move(accepted), listener.local_file());
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

// Whoever showed once whose it is comes last: as many silent or dripping connections as there may
// be lock nobody out.
const Deadlines* Loop::LeastDeserving() const {
  for (const Deadlines* some : {&core_.silent, &core_.slow, &core_.idle}) {
    if (some->First()) return some;
  }
  return nullptr;
}

// Ends a connection for the next one. False when all are at work.
bool Loop::MakeRoom() {
  const Deadlines* const some = LeastDeserving();
  if (!some) return false;
  const auto entry = entries_.find(some->First()->second);
  entry->second.connection->Shed();
  UpdateInterest(entry);
  core_.counters.shed++;
  return true;
}

// Out of descriptors: takes the next connection with the reserve, to close it. One that is only
// left waiting would never learn that it has to try again.
bool Loop::Shed(const Listener& listener) {
  if (!reserve_) return false;
  { const Descriptor freed(reserve_.Release()); }
  const bool shed = bool(listener.Accept().descriptor);
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

std::unique_ptr<Transport> Loop::TransportFor(int socket, bool plain) const {
  const auto tls = parts_.tls.Read([](const auto& context) { return context; });
  if (plain || !tls) return std::make_unique<PlainTransport>(socket);
  return tls->Accept(socket);
}

// Nobody is ended for one that is not let in.
void Loop::Add(Accepted accepted, bool plain) {
  core_.counters.accepted++;
  const int socket = accepted.descriptor.get();
  Entry entry{.connection = {}, .interest = EPOLLIN, .address = {}};
  std::unique_ptr<Transport> transport = TransportFor(socket, plain);
  const bool welcome = transport && addresses_.Add(accepted.peer, entry.address);
  const bool full = entries_.size() >= core_.options.most_connections;
  if (!welcome || (full && !MakeRoom())) {
    core_.counters.shed++;
    addresses_.Remove(entry.address);
    return;
  }
  const std::uint64_t id = next_id_++;
  epoll_event event{.events = EPOLLIN, .data = {.u64 = id}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket, &event);
  entry.connection = std::make_unique<EdgeConnection>(
      core_, id, std::move(accepted.descriptor), std::move(transport), std::move(accepted.peer));
  entries_.emplace(id, std::move(entry));
}

}  // namespace stepscope
