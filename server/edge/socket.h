#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/time.h"

namespace stepscope {

// An open TCP socket of the service, closed with this object. Non-blocking: waits are ours and
// have a deadline. For one thread, except that ShutDown may be called from any.
class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  Socket& operator=(Socket&&) = delete;
  ~Socket();

  int descriptor() const { return descriptor_; }

  // Bytes read; 0 at the end of the connection, at the deadline, or when it broke.
  std::size_t Read(char* to, std::size_t size, SteadyTime deadline);

  // False at the deadline or when it broke.
  bool Write(std::string_view bytes, SteadyTime deadline);

  // Whether something can be read before the deadline, the other side's end included.
  bool WaitReadable(SteadyTime deadline) const;

  // Ends what is written, then reads and drops what still comes, within bounds: an answer that is
  // followed by a reset would be lost on its way.
  void Drain(SteadyTime deadline);

  void ShutDown() const;  // wakes whoever waits on it
  std::string Peer() const;

 private:
  int descriptor_;
};

// A listening socket with a long backlog. Port 0: any free one. Errors name address and way out.
Result<Socket> ListenOn(const std::string& host, int port);

// The port it really listens on.
int LocalPort(const Socket& socket);

// The next connection, without delay for small answers; none after a second, or when accept()
// failed: nothing that comes from outside ends a listener.
Result<Socket> AcceptFrom(const Socket& listener);

}  // namespace stepscope
