#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "core/base/result.h"
#include "core/http/tls_socket.h"
#include "core/http/url.h"

namespace stepscope {

// The PEM files of a client, and what people are told.
struct TlsOptions {
  std::string ca_file{};    // the authorities to trust; empty: those of the system
  std::string cert_file{};  // our certificate and its chain; empty: none
  std::string key_file{};   // its key, unencrypted
  std::string way_out{};    // said behind "the certificate is not trusted"
};

// What is wrong with the certificate of a host; found while it is verified.
struct TlsTrouble {
  std::string host{};
  std::string way_out{};
  std::string certificate{};  // one sentence; empty: nothing
};

struct FreeTlsSide {
  void operator()(SSL* ssl) const {
    // Without the alert, which could block; a session that was not ended would not be resumed.
    SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN);
    SSL_free(ssl);
  }
};
using TlsSide = std::unique_ptr<SSL, FreeTlsSide>;

// What a client remembers of the server that it speaks TLS with: whom to trust, and the session to
// resume. TLS 1.2 or newer; certificate and name are always checked. For one thread; outlives its
// connections.
class TlsClient {
 public:
  // Invalid names the file that is no good.
  static Result<std::unique_ptr<TlsClient>> Make(const TlsOptions& options);
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  // The client's side of one connection. Reads our certificate and key anew, so that replaced ones
  // are used from the next connection on. `socket` and `trouble` outlive it.
  Result<TlsSide> Open(const Url& url, TlsSocket& socket, TlsTrouble& trouble);

 private:
  struct Free {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
    void operator()(SSL_SESSION* session) const { SSL_SESSION_free(session); }
  };

  explicit TlsClient(TlsOptions options) : options_(std::move(options)) {}
  Status Prepare();
  Status Identify(SSL* ssl) const;
  static int Keep(SSL* ssl, SSL_SESSION* session);

  const TlsOptions options_;
  const BioMethod socket_method_ = MakeTlsSocketMethod();
  std::unique_ptr<SSL_CTX, Free> context_{SSL_CTX_new(TLS_client_method())};
  std::unique_ptr<SSL_SESSION, Free> session_;
};

// Why the last TLS call failed, in one sentence about the host.
Error TlsError(const SSL* ssl, int result, const TlsTrouble& trouble);

// For SSL_set_verify, on a side whose app data is a TlsTrouble: notes what is wrong there.
int NoteCertificate(int good, X509_STORE_CTX* store);

}  // namespace stepscope
