#include "server/edge/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <string_view>

#include "core/base/text.h"
#include "server/edge/tls_transport.h"

namespace stepscope {
namespace {

constexpr std::string_view kHttp1 = "http/1.1";
constexpr std::string_view kSessions = "stepscope";

Error Fault(std::string_view what, const std::string& path) {
  std::array<char, 256> reason{};
  ERR_error_string_n(ERR_get_error(), reason.data(), reason.size());
  ERR_clear_error();
  return Invalid(Format("{}: {}: {}", path, what, reason.data()));
}

// Chooses HTTP/1.1 where the client offers it; one that offers nothing else is turned away.
int ChooseProtocol(SSL*, const unsigned char** chosen, unsigned char* size,
                   const unsigned char* offered, unsigned int bytes, void*) {
  for (unsigned int at = 0; at < bytes; at += offered[at] + 1U) {
    const std::string_view name(reinterpret_cast<const char*>(offered + at + 1), offered[at]);
    if (name != kHttp1) continue;
    *chosen = offered + at + 1;
    *size = offered[at];
    return SSL_TLSEXT_ERR_OK;
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

bool Configure(SSL_CTX* context) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);  // tickets hold the sessions
  SSL_CTX_set_alpn_select_cb(context, ChooseProtocol, nullptr);
  const auto* id = reinterpret_cast<const unsigned char*>(kSessions.data());
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
         SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1 &&
         SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384") == 1 &&
         SSL_CTX_set_session_id_context(context, id, kSessions.size()) == 1;
}

}  // namespace

void TlsContext::Free::operator()(ssl_ctx_st* context) const {
  SSL_CTX_free(context);
}

Result<std::shared_ptr<const TlsContext>> TlsContext::Load(const EdgeTlsFiles& files) {
  const std::shared_ptr<TlsContext> tls(new TlsContext);
  tls->context_.reset(SSL_CTX_new(TLS_server_method()));
  if (!tls->context_ || !Configure(tls->context_.get())) return Internal("TLS cannot be set up");
  Status loaded = tls->UseCertificate(files);
  if (loaded) loaded = tls->UseClientCa(files);
  if (!loaded) return loaded.error();
  return std::shared_ptr<const TlsContext>(tls);
}

Status TlsContext::UseCertificate(const EdgeTlsFiles& files) {
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(context_.get(), files.certificate.c_str()) != 1) {
    return Fault("no certificate can be read", files.certificate);
  }
  if (SSL_CTX_use_PrivateKey_file(context_.get(), files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return Fault("no key can be read that fits the certificate", files.key);
  }
  return {};
}

Status TlsContext::UseClientCa(const EdgeTlsFiles& files) {
  if (files.client_ca.empty()) return {};
  if (SSL_CTX_load_verify_file(context_.get(), files.client_ca.c_str()) != 1) {
    return Fault("no certificates can be read", files.client_ca);
  }
  SSL_CTX_set_client_CA_list(context_.get(), SSL_load_client_CA_file(files.client_ca.c_str()));
  const int must = files.require_client_certificate ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER | must, nullptr);
  return {};
}

std::unique_ptr<Transport> TlsContext::Accept(int socket) const {
  SSL* const ssl = SSL_new(context_.get());
  if (!ssl || SSL_set_fd(ssl, socket) != 1) return SSL_free(ssl), nullptr;
  SSL_set_accept_state(ssl);
  return std::make_unique<TlsTransport>(ssl, socket);
}

}  // namespace stepscope
