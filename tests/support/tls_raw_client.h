#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "tests/support/identity.h"
#include "tests/support/raw_client.h"

namespace stepscope {

using TlsSession = std::unique_ptr<SSL_SESSION, decltype(&SSL_SESSION_free)>;

// The client's offer in the handshake. It trusts any certificate.
struct TlsOffer {
  int version = 0;  // the only version; 0: any
  const test::Identity* identity = nullptr;
  SSL_SESSION* session = nullptr;  // to resume
  std::string protocol = "";       // for ALPN
};

// A RawClient over TLS.
class TlsRawClient : public RawClient {
 public:
  explicit TlsRawClient(int port, const TlsOffer& offer = {})
      : RawClient(port),
        context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free),
        ssl_(nullptr, SSL_free) {
    SSL_CTX_set_security_level(context_.get(), 0);  // or this side would refuse old versions
    SSL_CTX_set_min_proto_version(context_.get(), offer.version);
    SSL_CTX_set_max_proto_version(context_.get(), offer.version);
    if (offer.identity != nullptr) {
      SSL_CTX_use_certificate(context_.get(), offer.identity->certificate());
      SSL_CTX_use_PrivateKey(context_.get(), offer.identity->key());
    }
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_fd(ssl_.get(), socket());
    if (offer.session != nullptr) SSL_set_session(ssl_.get(), offer.session);
    const std::string names = char(offer.protocol.size()) + offer.protocol;
    const auto* bytes = reinterpret_cast<const unsigned char*>(names.data());
    if (names.size() > 1) SSL_set_alpn_protos(ssl_.get(), bytes, unsigned(names.size()));
    connected_ = SSL_connect(ssl_.get()) == 1;
  }

  bool connected() const { return connected_; }
  SSL* ssl() const { return ssl_.get(); }
  bool resumed() const { return SSL_session_reused(ssl_.get()) == 1; }
  bool end_was_said() const { return (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0; }
  TlsSession session() const { return {SSL_get1_session(ssl_.get()), SSL_SESSION_free}; }

  // The common name of the server's certificate.
  std::string shown() const {
    char name[128] = "";
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(
        SSL_get1_peer_certificate(ssl_.get()), X509_free);
    if (!certificate) return "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, name,
                              sizeof name);
    return name;
  }

 protected:
  ssize_t Put(std::string_view bytes) override {
    return SSL_write(ssl_.get(), bytes.data(), int(bytes.size()));
  }
  ssize_t Get(char* to, std::size_t size) override {
    const int got = SSL_read(ssl_.get(), to, int(size));
    return got > 0 || end_was_said() ? got : -1;
  }

 private:
  test::TlsContext context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  bool connected_ = false;
};

}  // namespace stepscope
