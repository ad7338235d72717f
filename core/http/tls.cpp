#include "core/http/tls.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cstdlib>

#include "core/base/text.h"
#include "core/http/authorities.h"

namespace stepscope {
namespace {

void ExpectName(SSL* ssl, const Url& url) {
  if (IsNumericHost(url.host)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), url.host.c_str());
    return;
  }
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  SSL_set1_host(ssl, url.host.c_str());
  SSL_set_tlsext_host_name(ssl, url.host.c_str());
}

// Trusts SSL_CERT_FILE and SSL_CERT_DIR, else OpenSSL's default places; when those are empty, this
// OpenSSL was built for another distribution, and FindAuthorities finds the system's file.
void TrustTheSystem(SSL_CTX* context) {
  SSL_CTX_set_default_verify_paths(context);
  const bool named = std::getenv(X509_get_default_cert_file_env()) != nullptr ||
                     std::getenv(X509_get_default_cert_dir_env()) != nullptr;
  if (named || access(X509_get_default_cert_file(), R_OK) == 0 ||
      access(X509_get_default_cert_dir(), R_OK) == 0) {
    return;
  }
  const std::string file = FindAuthorities("");
  if (!file.empty()) SSL_CTX_load_verify_locations(context, file.c_str(), nullptr);
}

}  // namespace

Result<std::unique_ptr<TlsClient>> TlsClient::Make(const TlsOptions& options) {
  std::unique_ptr<TlsClient> client(new TlsClient(options));
  if (!client->context_ || !client->socket_method_) return Internal("TLS: out of memory");
  if (Status prepared = client->Prepare(); !prepared) return prepared.error();
  // Reports at the start an error that would fail the first connection.
  TlsTrouble none;
  TlsSocket closed;
  auto tried = client->Open({.secure = true, .host = "localhost"}, closed, none);
  if (!tried) return tried.error();
  return client;
}

Status TlsClient::Prepare() {
  SSL_CTX* context = context_.get();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // Lets each call return after a message that carries no data, such as a ticket.
  SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NoteCertificate);
  // No one is there to type a password.
  SSL_CTX_set_default_passwd_cb(context, [](char*, int, int, void*) { return 0; });
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
  SSL_CTX_set_app_data(context, this);
  SSL_CTX_sess_set_new_cb(context, Keep);
  if (options_.ca_file.empty()) return TrustTheSystem(context), Status();
  if (SSL_CTX_load_verify_locations(context, options_.ca_file.c_str(), nullptr) == 1) return {};
  return Invalid(
      Format("CA file '{}' cannot be read or holds no certificate", Printable(options_.ca_file)));
}

int TlsClient::Keep(SSL* ssl, SSL_SESSION* session) {
  auto* client = static_cast<TlsClient*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  client->session_.reset(session);
  return 1;  // we own the session now
}

Status TlsClient::Identify(SSL* ssl) const {
  if (options_.cert_file.empty()) return {};
  if (SSL_use_certificate_chain_file(ssl, options_.cert_file.c_str()) != 1) {
    return Invalid(Format("certificate file '{}' cannot be read or holds no certificate",
                          Printable(options_.cert_file)));
  }
  if (SSL_use_PrivateKey_file(ssl, options_.key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_check_private_key(ssl) != 1) {
    return Invalid(Format("key file '{}' cannot be read, is encrypted, or is not the key of '{}'",
                          Printable(options_.key_file), Printable(options_.cert_file)));
  }
  return {};
}

Result<TlsSide> TlsClient::Open(const Url& url, TlsSocket& socket, TlsTrouble& trouble) {
  ERR_clear_error();
  TlsSide side(SSL_new(context_.get()));
  if (!side) return Internal("TLS: out of memory");
  if (Status identified = Identify(side.get()); !identified) return identified.error();
  trouble = {.host = url.host, .way_out = options_.way_out};
  SSL_set_app_data(side.get(), &trouble);
  BIO* bio = MakeTlsSocketBio(socket_method_.get(), socket);
  if (bio == nullptr) return Internal("TLS: out of memory");
  SSL_set_bio(side.get(), bio, bio);
  ExpectName(side.get(), url);
  if (session_) SSL_set_session(side.get(), session_.get());
  return side;
}

}  // namespace stepscope
