#include "server/edge/socket_closer.h"

#include <sys/socket.h>

#include <array>
#include <vector>

#include "core/base/detached_thread.h"
#include "server/edge/passed_descriptors.h"

namespace stepscope {
namespace {

constexpr int kMostUnread = 10'000;  // messages of one socket

void EndLinger(const Descriptor& socket) {
  const linger none{0, 0};
  setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

bool IsUnixSocket(const Descriptor& descriptor) {
  int domain = 0;
  socklen_t size = sizeof domain;
  return getsockopt(descriptor.get(), SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
         domain == AF_UNIX;
}

// Closing a socket closes the descriptors in its unread messages. The shutdown keeps more from
// coming.
std::vector<Descriptor> TakeUnread(const Descriptor& socket) {
  std::vector<Descriptor> passed;
  shutdown(socket.get(), SHUT_RDWR);
  std::array<char, 16 * 1024> bytes;
  for (int count = 0; count < kMostUnread; ++count) {
    const std::size_t before = passed.size();
    if (ReceiveWithDescriptors(socket.get(), bytes, passed) <= 0 && passed.size() == before) break;
  }
  return passed;
}

}  // namespace

void SocketCloser::Close(Descriptor descriptor) {
  if (!descriptor) return;
  const bool start = state_->Change([&](State& state) {
    state.waiting.push_back(std::move(descriptor));
    if (state.threads >= kMostThreads) return false;
    state.threads++;
    return true;
  });
  if (!start || StartDetachedThread("close", [state = state_] { Work(*state); })) return;
  state_->Change([](State& state) { state.threads--; });  // the next one closes it
}

void SocketCloser::Work(Guarded<State>& state) {
  while (true) {
    const Descriptor next = state.Change([](State& all) {
      Descriptor first;
      if (all.waiting.empty()) {
        all.threads--;
      } else {
        first = std::move(all.waiting.front());
        all.waiting.pop_front();
      }
      return first;
    });
    if (!next) return;
    EndLinger(next);
    if (!IsUnixSocket(next)) continue;
    std::vector<Descriptor> passed = TakeUnread(next);
    state.Change([&](State& all) {
      for (Descriptor& one : passed) all.waiting.push_back(std::move(one));
    });
  }
}

}  // namespace stepscope
