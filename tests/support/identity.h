#pragma once

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>
#include <string>

namespace stepscope::test {

// A key and a certificate for one name and 127.0.0.1, made on the spot. It signs itself unless
// another signs it.
class Identity {
 public:
  struct Spec {
    std::string name = "right.test";
    long from_seconds = -60, until_seconds = 3600;  // from now
    const Identity* signer = nullptr;
    std::string uri = "";  // a further name
  };

  explicit Identity(const std::string& name) : Identity(Spec{.name = name}) {}
  explicit Identity(const Spec& spec) {
    X509* certificate = certificate_.get();
    X509_gmtime_adj(X509_getm_notBefore(certificate), spec.from_seconds);
    X509_gmtime_adj(X509_getm_notAfter(certificate), spec.until_seconds);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_set_version(certificate, 2);
    X509_set_pubkey(certificate, key_.get());
    X509_NAME* subject = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(spec.name.c_str()), -1, -1,
                               0);
    const Identity& signer = spec.signer != nullptr ? *spec.signer : *this;
    X509_set_issuer_name(certificate, X509_get_subject_name(signer.certificate()));
    const std::string uri = spec.uri.empty() ? "" : ",URI:" + spec.uri;
    Extend(NID_subject_alt_name, "DNS:" + spec.name + ",IP:127.0.0.1" + uri);
    if (spec.signer == nullptr) Extend(NID_basic_constraints, "critical,CA:TRUE");
    X509_sign(certificate, signer.key(), EVP_sha256());
  }

  void Save(const std::string& path) const {
    std::FILE* file = std::fopen(path.c_str(), "w");
    PEM_write_X509(file, certificate_.get());
    std::fclose(file);
  }
  void SaveKey(const std::string& path, const char* password = nullptr) const {
    std::FILE* file = std::fopen(path.c_str(), "w");
    PEM_write_PrivateKey(file, key_.get(), password != nullptr ? EVP_aes_128_cbc() : nullptr,
                         nullptr, 0, nullptr, const_cast<char*>(password));
    std::fclose(file);
  }
  X509* certificate() const { return certificate_.get(); }
  EVP_PKEY* key() const { return key_.get(); }

 private:
  void Extend(int kind, const std::string& value) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
    X509_add_ext(certificate_.get(), extension, -1);
    X509_EXTENSION_free(extension);
  }

  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_{EVP_EC_gen("P-256"), EVP_PKEY_free};
  std::unique_ptr<X509, decltype(&X509_free)> certificate_{X509_new(), X509_free};
};

using TlsContext = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

// The server's side of TLS with this identity.
inline TlsContext ServerContext(const Identity& identity) {
  TlsContext context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  SSL_CTX_use_certificate(context.get(), identity.certificate());
  SSL_CTX_use_PrivateKey(context.get(), identity.key());
  return context;
}

}  // namespace stepscope::test
