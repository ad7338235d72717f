#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "server/edge/socket_closer.h"

namespace stepscope {

// The outcome of moving bytes, or what to wait for.
enum class Io {
  kDone,
  kWantRead,   // call again when the socket can be read
  kWantWrite,  // call again when it can be written
  kEnd,        // the other side sends nothing more
  kForeign,    // the bytes that came are no TLS
  kBroken,
};

struct Moved {
  Io io = Io::kDone;
  std::size_t bytes = 0;  // only with kDone, and then not 0
};

// Bytes to and from the other side of a connection, over TLS or not. Never waits. A virtual seam,
// so that the rest of the edge does not care. For one thread; the socket is the caller's.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Io Handshake() = 0;
  virtual Moved Read(std::span<char> to) = 0;
  virtual Moved Write(std::string_view bytes) = 0;
  virtual void EndWriting() = 0;
  virtual bool secure() const { return false; }
  virtual std::string certificate() const { return ""; }  // the verified name, as in Request
  // Whether it is too old by now: connections and resumed sessions outlive certificates.
  virtual bool certificate_ended() const { return false; }
  // Null where the thread of the edge may close the socket itself.
  virtual SocketCloser* closer() const { return nullptr; }
};

class PlainTransport : public Transport {
 public:
  explicit PlainTransport(int socket) : socket_(socket) {}
  Io Handshake() override { return Io::kDone; }
  Moved Read(std::span<char> to) override;
  Moved Write(std::string_view bytes) override;
  void EndWriting() override;

 protected:
  int socket() const { return socket_; }

 private:
  int socket_;
};

// A unix socket whose other side can send descriptors. No honest client does: these are given to
// the closer, and the connection is broken.
class UnixTransport : public PlainTransport {
 public:
  UnixTransport(int socket, SocketCloser& closer) : PlainTransport(socket), closer_(closer) {}
  Moved Read(std::span<char> to) override;
  SocketCloser* closer() const override { return &closer_; }

 private:
  SocketCloser& closer_;
};

}  // namespace stepscope
