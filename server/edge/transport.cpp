#include "server/edge/transport.h"

#include <sys/socket.h>

#include <cerrno>
#include <vector>

#include "core/base/log.h"
#include "server/edge/passed_descriptors.h"

namespace stepscope {
namespace {

Moved Outcome(ssize_t moved, Io otherwise) {
  if (moved > 0) return {Io::kDone, static_cast<std::size_t>(moved)};
  if (moved == 0) return {Io::kEnd, 0};
  const bool again = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  return {again ? otherwise : Io::kBroken, 0};
}

}  // namespace

Moved PlainTransport::Read(std::span<char> to) {
  return Outcome(recv(socket_, to.data(), to.size(), 0), Io::kWantRead);
}

Moved PlainTransport::Write(std::string_view bytes) {
  return Outcome(send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL), Io::kWantWrite);
}

void PlainTransport::EndWriting() {
  shutdown(socket_, SHUT_WR);
}

Moved UnixTransport::Read(std::span<char> to) {
  std::vector<Descriptor> passed;
  const Moved moved = Outcome(ReceiveWithDescriptors(socket(), to, passed), Io::kWantRead);
  if (passed.empty()) return moved;
  LogDebug("a client of the unix socket sent {} descriptors: it is cut off", passed.size());
  for (Descriptor& one : passed) closer_.Close(std::move(one));
  return {Io::kBroken, 0};
}

}  // namespace stepscope
