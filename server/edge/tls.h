#pragma once

#include <memory>
#include <string>

#include "core/base/result.h"
#include "server/edge/transport.h"

struct ssl_ctx_st;

namespace stepscope {

// PEM files. Clients may come with certificates of `client_ca`, if there is one; with
// `require_client_certificate` they must.
struct EdgeTlsFiles {
  std::string certificate, key;
  std::string client_ca = {};
  bool require_client_certificate = false;
};

// The server side of TLS: its certificate, whom it trusts, which versions it speaks (1.2 and 1.3).
// Does not change once made. Safe from any thread.
class TlsContext {
 public:
  // Errors name the file.
  static Result<std::shared_ptr<const TlsContext>> Load(const EdgeTlsFiles& files);

  // The transport of one connection, whose socket stays the caller's. Null when out of memory.
  std::unique_ptr<Transport> Accept(int socket) const;

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };
  TlsContext() = default;
  Status UseCertificate(const EdgeTlsFiles& files);
  Status UseClientCa(const EdgeTlsFiles& files);

  std::unique_ptr<ssl_ctx_st, Free> context_;
};

}  // namespace stepscope
