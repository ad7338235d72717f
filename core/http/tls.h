#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "core/base/result.h"
#include "core/http/tls_socket.h"
#include "core/http/url.h"

namespace stepscope {

// The PEM files of a client, and the remedy that an error names.
struct TlsOptions {
  std::string ca_file{};    // the authorities to trust; empty: the system's
  std::string cert_file{};  // our certificate and its chain; empty: none
  std::string key_file{};   // its key, unencrypted
  std::string way_out{};    // remedy, appended to "the certificate is not trusted"
};

// The fault of a host's certificate, found while it is verified.
struct TlsTrouble {
  std::string host{};
  std::string way_out{};
  std::string certificate{};  // one sentence; empty: no fault
};

struct FreeTlsSide {
  void operator()(SSL* ssl) const {
    // Frees the session without the closing alert, which could block, and keeps it resumable.
    SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN);
    SSL_free(ssl);
  }
};
using TlsSide = std::unique_ptr<SSL, FreeTlsSide>;

// A client's state for one TLS server: the trusted authorities, and the session to resume. TLS 1.2
// or newer; certificate and name are always checked. For one thread; outlives its connections.
class TlsClient {
 public:
  // Invalid names the file that cannot be used.
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

// The reason why the last TLS call failed, in one sentence about the host.
Error TlsError(const SSL* ssl, int result, const TlsTrouble& trouble);

// Callback of SSL_set_verify for a side whose app data is a TlsTrouble: notes the fault there.
int NoteCertificate(int good, X509_STORE_CTX* store);

}  // namespace stepscope
