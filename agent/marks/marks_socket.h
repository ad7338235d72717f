#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace stepscope {

// The users who may connect, as the kernel checks it for any file.
struct SocketAccess {
  std::uint32_t mode = 0600;
  std::optional<std::uint32_t> group{};
};

// Listens on a unix SOCK_SEQPACKET socket. A socket file without a listener is replaced. Invalid
// for a path that is too long or is another kind of file, Unavailable when another process listens.
Result<Descriptor> ListenForMarks(const std::string& path, const SocketAccess& access);

struct MarkPeer {
  Descriptor socket;
  std::int64_t pid = 0;
  std::uint32_t user = 0, group = 0;
};

// Accepts the next waiting process; without a socket when none waits. Unavailable when this process
// has no descriptors left.
Result<MarkPeer> AcceptPeer(const Descriptor& listener);

struct MarkPacket {
  enum State { kPacket, kNothing, kClosed };
  State state = kNothing;
  std::string bytes;
};

// Never waits. Invalid for a packet beyond kMaxMarkMessageBytes. The descriptors that came with the
// packet are added to `passed`, with an error too: closing one may take long, see Closer.
Result<MarkPacket> ReceivePacket(const Descriptor& socket, std::vector<Descriptor>& passed);

// Asks the kernel to refuse descriptors that are sent to this socket, or to sockets that it
// accepts. Kernels before 6.16 do not know this.
void TakeNoDescriptors(const Descriptor& socket);

// Sends the packet if that needs no waiting; else false.
bool SendPacket(const Descriptor& socket, std::string_view bytes);

}  // namespace stepscope
