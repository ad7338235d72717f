#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace stepscope {

// Who may connect, as the kernel checks it for any file.
struct SocketAccess {
  std::uint32_t mode = 0600;
  std::optional<std::uint32_t> group{};
};

// Listens on a unix SOCK_SEQPACKET socket. A socket file that nobody listens on is replaced.
// Invalid for a path that is too long or is another kind of file, Unavailable when someone listens.
Result<Descriptor> ListenForMarks(const std::string& path, const SocketAccess& access);

struct MarkPeer {
  Descriptor socket;
  std::int64_t pid = 0;
  std::uint32_t user = 0;
};

// The next waiting process; without a socket when none waits. Unavailable when this process has no
// descriptors left.
Result<MarkPeer> AcceptPeer(const Descriptor& listener);

struct MarkPacket {
  enum State { kPacket, kNothing, kClosed };
  State state = kNothing;
  std::string bytes;
  Descriptor passed;  // the first descriptor that came along; others are closed
};

// Never waits. Invalid for a packet beyond kMaxMarkMessageBytes.
Result<MarkPacket> ReceivePacket(const Descriptor& socket);

// Never waits; what cannot be sent now is not sent, which is false.
bool SendPacket(const Descriptor& socket, std::string_view bytes);

}  // namespace stepscope
