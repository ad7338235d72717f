#pragma once

#include <memory>

#include "server/edge/transport.h"

struct ssl_st;

namespace stepscope {

// TLS over a non-blocking socket. The thread has SIGPIPE blocked: OpenSSL writes without asking.
class TlsTransport : public Transport {
 public:
  TlsTransport(ssl_st* ssl, int socket) : ssl_(ssl), socket_(socket) {}  // owns `ssl`

  Io Handshake() override;
  Moved Read(std::span<char> to) override;
  Moved Write(std::string_view bytes) override;
  void EndWriting() override;
  bool secure() const override { return true; }

  // The first URI among the alternative names, or the common name, of a certificate that was
  // verified.
  std::string certificate() const override;
  bool certificate_ended() const override;

 private:
  struct Free {
    void operator()(ssl_st* ssl) const;
  };
  Moved Outcome(int result, std::size_t bytes);

  std::unique_ptr<ssl_st, Free> ssl_;
  int socket_;
  bool begun_ = false, broken_ = false;
};

}  // namespace stepscope
