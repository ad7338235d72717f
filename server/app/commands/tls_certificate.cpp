#include "server/app/commands/tls_certificate.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <ctime>
#include <memory>
#include <span>

#include "core/base/random.h"
#include "core/base/text.h"
#include "core/http/url.h"

namespace stepscope {
namespace {

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
};
using Key = std::unique_ptr<EVP_PKEY, Free>;
using Certificate = std::unique_ptr<X509, Free>;
using Bio = std::unique_ptr<BIO, Free>;

constexpr std::size_t kLongestSubject = 64;  // bytes
constexpr long kEarlySeconds = 3600;
constexpr long kDaySeconds = 86'400;

// Adds an extension, written as in openssl.cnf; never with text from outside.
struct Extension {
  int kind;
  const char* value;
};
constexpr Extension kAuthority[] = {
    {NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
    {NID_key_usage, "critical,keyCertSign,cRLSign"},
    {NID_subject_key_identifier, "hash"},
};
constexpr Extension kServer[] = {
    {NID_basic_constraints, "critical,CA:FALSE"},
    {NID_key_usage, "critical,digitalSignature"},
    {NID_ext_key_usage, "serverAuth"},
    {NID_subject_key_identifier, "hash"},
    {NID_authority_key_identifier, "keyid:always"},
};
constexpr Extension kAgent[] = {
    {NID_basic_constraints, "critical,CA:FALSE"},
    {NID_key_usage, "critical,digitalSignature"},
    {NID_ext_key_usage, "clientAuth"},
    {NID_subject_key_identifier, "hash"},
    {NID_authority_key_identifier, "keyid:always"},
};

struct Signer {
  Certificate certificate;
  Key key;
};

std::string TextOf(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

Certificate ReadCertificate(const std::string& pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
}

Result<Signer> ReadSigner(const CertificateAndKey& from) {
  Signer signer{ReadCertificate(from.certificate), nullptr};
  const Bio bio(BIO_new_mem_buf(from.key.data(), static_cast<int>(from.key.size())));
  const auto no_password = [](char*, int, int, void*) { return 0; };
  signer.key.reset(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr));
  if (!signer.certificate || !signer.key ||
      X509_check_private_key(signer.certificate.get(), signer.key.get()) != 1) {
    return Invalid("the authority's certificate and key cannot be read, or are not a pair");
  }
  if (X509_check_ca(signer.certificate.get()) == 0) {
    return Invalid("the authority's certificate is none of an authority");
  }
  return signer;
}

bool SetName(X509* certificate, const std::string& name) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  return X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(name.data()),
                                    static_cast<int>(name.size()), -1, 0) == 1;
}

bool SetSerial(X509* certificate) {
  std::string bytes = RandomBytes(16);
  bytes[0] =
      static_cast<char>((bytes[0] & 0x3f) | 0x40);  // positive, and always of the same length
  BIGNUM* number = BN_bin2bn(reinterpret_cast<const unsigned char*>(bytes.data()),
                             static_cast<int>(bytes.size()), nullptr);
  const bool set = BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  return set;
}

bool SetTime(X509* certificate, const GoodFor& time, const X509* authority) {
  const std::time_t from = std::chrono::system_clock::to_time_t(time.from) - kEarlySeconds;
  const std::time_t until = from + kEarlySeconds + time.days * kDaySeconds;
  ASN1_TIME_set(X509_getm_notBefore(certificate), from);
  ASN1_TIME_set(X509_getm_notAfter(certificate), until);
  if (authority == nullptr) return true;
  const ASN1_TIME* end = X509_get0_notAfter(authority);
  if (ASN1_TIME_compare(X509_get0_notAfter(certificate), end) <= 0) return true;
  return X509_set1_notAfter(certificate, end) == 1;
}

bool Extend(X509* certificate, X509* issuer, std::span<const Extension> extensions) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  for (const Extension& each : extensions) {
    const std::unique_ptr<X509_EXTENSION, Free> extension(
        X509V3_EXT_conf_nid(nullptr, &context, each.kind, each.value));
    if (!extension || X509_add_ext(certificate, extension.get(), -1) != 1) return false;
  }
  return true;
}

// Built by hand, because a line of openssl.cnf would read commas in it.
bool AddHosts(X509* certificate, const std::vector<std::string>& hosts) {
  const std::unique_ptr<GENERAL_NAMES, Free> names(GENERAL_NAMES_new());
  for (const std::string& host : hosts) {
    const int kind = IsNumericHost(host) ? GEN_IPADD : GEN_DNS;
    GENERAL_NAME* name = a2i_GENERAL_NAME(nullptr, nullptr, nullptr, kind, host.c_str(), 0);
    if (name == nullptr || sk_GENERAL_NAME_push(names.get(), name) == 0) return false;
  }
  return hosts.empty() ||
         X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, 0) == 1;
}

Result<CertificateAndKey> ToPem(X509* certificate, EVP_PKEY* key) {
  const Bio certificate_text(BIO_new(BIO_s_mem())), key_text(BIO_new(BIO_s_mem()));
  const bool written = PEM_write_bio_X509(certificate_text.get(), certificate) == 1 &&
                       PEM_write_bio_PKCS8PrivateKey(key_text.get(), key, nullptr, nullptr, 0,
                                                     nullptr, nullptr) == 1;
  if (!written) return Internal("certificate: cannot be written");
  return CertificateAndKey{TextOf(certificate_text.get()), TextOf(key_text.get())};
}

// `signer` is null for a certificate that signs itself.
Result<CertificateAndKey> Make(const std::string& name, const std::vector<std::string>& hosts,
                               std::span<const Extension> extensions, const GoodFor& time,
                               const Signer* signer) {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate(X509_new());
  if (!key || !certificate) return Internal("certificate: no key can be made");
  X509* issuer = signer != nullptr ? signer->certificate.get() : certificate.get();
  EVP_PKEY* signing = signer != nullptr ? signer->key.get() : key.get();
  const bool made = X509_set_version(certificate.get(), X509_VERSION_3) == 1 &&
                    SetSerial(certificate.get()) && SetName(certificate.get(), name) &&
                    X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer)) == 1 &&
                    SetTime(certificate.get(), time, signer != nullptr ? issuer : nullptr) &&
                    X509_set_pubkey(certificate.get(), key.get()) == 1 &&
                    Extend(certificate.get(), issuer, extensions) &&
                    AddHosts(certificate.get(), hosts) &&
                    X509_sign(certificate.get(), signing, EVP_sha256()) != 0;
  if (!made) return Invalid(Format("no certificate can be made for '{}'", Printable(name)));
  return ToPem(certificate.get(), key.get());
}

}  // namespace

Result<CertificateAndKey> MakeAuthority(const std::string& name, const GoodFor& time) {
  return Make(name, {}, kAuthority, time, nullptr);
}

Result<CertificateAndKey> MakeServerCertificate(const CertificateAndKey& authority,
                                                const std::vector<std::string>& hosts,
                                                const GoodFor& time) {
  const auto signer = ReadSigner(authority);
  if (!signer) return signer.error();
  if (hosts.empty()) return Invalid("a server's certificate needs a name");
  const bool fits = hosts.front().size() <= kLongestSubject;
  return Make(fits ? hosts.front() : "stepscope", hosts, kServer, time, &*signer);
}

Result<CertificateAndKey> MakeAgentCertificate(const CertificateAndKey& authority,
                                               const std::string& node, const GoodFor& time) {
  const auto signer = ReadSigner(authority);
  if (!signer) return signer.error();
  return Make(node, {}, kAgent, time, &*signer);
}

Result<std::string> EndOf(const std::string& pem) {
  const Certificate certificate = ReadCertificate(pem);
  std::tm parts{};
  if (!certificate || ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &parts) != 1) {
    return Invalid("a certificate in PEM is wanted");
  }
  return Format("{:04}-{:02}-{:02} {:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1,
                parts.tm_mday, parts.tm_hour, parts.tm_min);
}

}  // namespace stepscope
