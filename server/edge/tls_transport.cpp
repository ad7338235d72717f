#include "server/edge/tls_transport.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>

#include "core/base/log.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

std::string Text(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

// Nobody is named with a NUL or a line break, or in another encoding.
bool IsName(std::string_view text) {
  return ValidUtf8(text) == text && std::ranges::none_of(text, [](char c) {
           return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
         });
}

std::string FirstUri(const X509* certificate) {
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free);
  for (int at = 0; names && at < sk_GENERAL_NAME_num(names.get()); ++at) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), at);
    if (name->type == GEN_URI) return Text(name->d.uniformResourceIdentifier);
  }
  return "";
}

std::string CommonName(const X509* certificate) {
  const X509_NAME* subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  return at < 0 ? "" : Text(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
}

}  // namespace

void TlsTransport::Free::operator()(ssl_st* ssl) const {
  SSL_free(ssl);
}

Io TlsTransport::Handshake() {
  char first = 0;
  if (!begun_ && recv(socket_, &first, 1, MSG_PEEK) == 1 && first >= 'A' && first <= 'Z') {
    return Io::kForeign;
  }
  begun_ = begun_ || first != 0;
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  return result == 1 ? Io::kDone : Outcome(result, 0).io;
}

Moved TlsTransport::Read(std::span<char> to) {
  ERR_clear_error();
  std::size_t bytes = 0;
  const int result = SSL_read_ex(ssl_.get(), to.data(), to.size(), &bytes);
  return Outcome(result, bytes);
}

Moved TlsTransport::Write(std::string_view bytes) {
  ERR_clear_error();
  std::size_t put = 0;
  const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &put);
  return Outcome(result, put);
}

Moved TlsTransport::Outcome(int result, std::size_t bytes) {
  if (result == 1) return {Io::kDone, bytes};
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {Io::kWantRead, 0};
    case SSL_ERROR_WANT_WRITE:
      return {Io::kWantWrite, 0};
    case SSL_ERROR_ZERO_RETURN:
      return {Io::kEnd, 0};
    case SSL_ERROR_SSL:
      LogDebug("TLS: {}", ERR_reason_error_string(ERR_peek_error()));
      break;
    default:
      break;
  }
  broken_ = true;  // OpenSSL forbids further calls
  return {Io::kBroken, 0};
}

void TlsTransport::EndWriting() {
  ERR_clear_error();
  if (!broken_) SSL_shutdown(ssl_.get());
  shutdown(socket_, SHUT_WR);
}

std::string TlsTransport::certificate() const {
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      SSL_get1_peer_certificate(ssl_.get()), X509_free);
  if (!certificate || SSL_get_verify_result(ssl_.get()) != X509_V_OK) return "";
  std::string uri = FirstUri(certificate.get());
  std::string name = uri.empty() ? CommonName(certificate.get()) : std::move(uri);
  return IsName(name) ? name : "";
}

bool TlsTransport::certificate_ended() const {
  const X509* const certificate = SSL_get0_peer_certificate(ssl_.get());
  return certificate && X509_cmp_current_time(X509_get0_notAfter(certificate)) <= 0;
}

}  // namespace stepscope
