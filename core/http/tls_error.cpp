// TlsError and NoteCertificate of tls.h: TLS errors in words for the person who has to fix them.

#include <openssl/err.h>
#include <openssl/sslerr.h>
#include <openssl/x509v3.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "core/base/text.h"
#include "core/base/time.h"
#include "core/http/tls.h"

namespace stepscope {
namespace {

struct Reason {
  int reason;
  std::string_view sentence;  // appended to "'host' "
};
constexpr std::string_view kPlain = "does not speak TLS there; is it http:// ?";
constexpr std::string_view kOld = "speaks neither TLS 1.2 nor 1.3";
constexpr std::string_view kWantsCertificate = "wants a client certificate";
constexpr std::string_view kRefusesCertificate = "does not take our client certificate";
constexpr Reason kReasons[] = {
    {SSL_R_WRONG_VERSION_NUMBER, kPlain},
    {SSL_R_HTTP_REQUEST, kPlain},
    {SSL_R_UNSUPPORTED_PROTOCOL, kOld},
    {SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, kOld},
    {SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED, kWantsCertificate},
    {SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE,
     "ends the TLS handshake; it may want a client certificate"},
    {SSL_R_TLSV1_ALERT_UNKNOWN_CA, kRefusesCertificate},
    {SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, kRefusesCertificate},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, "says that our client certificate has expired"},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED, "says that our client certificate was revoked"},
    {SSL_R_UNEXPECTED_EOF_WHILE_READING, "closed the connection"},
};

std::string Text(const ASN1_TIME* time) {
  std::tm parts{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return "?";
  return Format("{:04}-{:02}-{:02} {:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1,
                parts.tm_mday, parts.tm_hour, parts.tm_min);
}

// The names that a certificate is valid for: "DNS:a.org, IP Address:10.0.0.1".
std::string Names(const X509* certificate) {
  constexpr std::size_t kMost = 200;
  auto* names = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  BIO* out = BIO_new(BIO_s_mem());
  for (int i = 0; out != nullptr && i < sk_GENERAL_NAME_num(names); ++i) {
    if (i > 0) BIO_write(out, ", ", 2);
    GENERAL_NAME_print(out, sk_GENERAL_NAME_value(names, i));
  }
  char* bytes = nullptr;
  const long size = out != nullptr ? BIO_get_mem_data(out, &bytes) : 0;
  const std::string text(bytes, bytes + size);
  BIO_free(out);
  GENERAL_NAMES_free(names);
  return text.empty() ? "no name" : Printable(text, kMost);
}

std::string Judge(int error, const X509* certificate, const TlsTrouble& trouble) {
  const std::string host = Printable(trouble.host);
  switch (error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return Format("the certificate of '{}' is for other names: {}", host, Names(certificate));
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return Format("the certificate of '{}' has expired: it was good until {}", host,
                    Text(X509_get0_notAfter(certificate)));
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return Format("the certificate of '{}' is good from {} on: are the clocks right?", host,
                    Text(X509_get0_notBefore(certificate)));
    default:
      return Format("the certificate of '{}' is not trusted ({}){}{}", host,
                    X509_verify_cert_error_string(error), trouble.way_out.empty() ? "" : ": ",
                    trouble.way_out);
  }
}

}  // namespace

int NoteCertificate(int good, X509_STORE_CTX* store) {
  const int index = SSL_get_ex_data_X509_STORE_CTX_idx();
  auto* ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, index));
  auto* trouble = static_cast<TlsTrouble*>(SSL_get_app_data(ssl));
  if (good == 1 || trouble == nullptr) return good;
  trouble->certificate =
      Judge(X509_STORE_CTX_get_error(store), X509_STORE_CTX_get_current_cert(store), *trouble);
  return good;
}

Error TlsError(const SSL* ssl, int result, const TlsTrouble& trouble) {
  const int system = errno;
  if (!trouble.certificate.empty()) return Unavailable(trouble.certificate);
  const std::string host = Printable(trouble.host);
  const unsigned long code = ERR_peek_last_error();
  for (const Reason& reason : kReasons) {
    if (code != 0 && reason.reason == ERR_GET_REASON(code)) {
      return Unavailable(Format("'{}' {}", host, reason.sentence));
    }
  }
  if (const char* text = code != 0 ? ERR_reason_error_string(code) : nullptr; text != nullptr) {
    return Unavailable(Format("TLS with '{}': {}", host, text));
  }
  const bool lost = SSL_get_error(ssl, result) == SSL_ERROR_SYSCALL && system != 0;
  return Unavailable(Format("TLS with '{}': {}", host,
                            lost ? std::strerror(system) : "the connection was closed"));
}

}  // namespace stepscope
