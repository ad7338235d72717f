// https against a TLS server of our own, with certificates made on the spot.

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>

#include "core/base/text.h"
#include "core/http/client.h"
#include "tests/support/fake_root.h"
#include "tests/support/scripted_server.h"

namespace stepscope {
namespace {

using test::Peer;
using test::ScriptedServer;

// A key and a certificate that signs itself, good for one name and 127.0.0.1.
class Identity {
 public:
  explicit Identity(const std::string& name) {
    X509_gmtime_adj(X509_getm_notBefore(certificate_.get()), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate_.get()), 3600);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate_.get()), 1);
    X509_set_version(certificate_.get(), 2);
    X509_set_pubkey(certificate_.get(), key_.get());
    X509_NAME* subject = X509_get_subject_name(certificate_.get());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(certificate_.get(), subject);
    const std::string names = "DNS:" + name + ",IP:127.0.0.1";
    X509_EXTENSION* extension =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str());
    X509_add_ext(certificate_.get(), extension, -1);
    X509_EXTENSION_free(extension);
    X509_sign(certificate_.get(), key_.get(), EVP_sha256());
  }

  void Save(const std::string& path) const {
    std::FILE* file = std::fopen(path.c_str(), "w");
    PEM_write_X509(file, certificate_.get());
    std::fclose(file);
  }
  X509* certificate() const { return certificate_.get(); }
  EVP_PKEY* key() const { return key_.get(); }

 private:
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_{EVP_EC_gen("P-256"), EVP_PKEY_free};
  std::unique_ptr<X509, decltype(&X509_free)> certificate_{X509_new(), X509_free};
};

struct TlsTest : testing::Test {
  TlsTest() {
    SSL_CTX_use_certificate(context.get(), identity.certificate());
    SSL_CTX_use_PrivateKey(context.get(), identity.key());
    identity.Save(ca_file);
  }

  // Answers every request of a connection.
  void Serve(Peer& peer) {
    SSL* ssl = SSL_new(context.get());
    SSL_set_fd(ssl, peer.socket());
    char bytes[4096];
    if (SSL_accept(ssl) == 1) {
      while (SSL_read(ssl, bytes, sizeof bytes) > 0) {
        const std::string_view answer = "HTTP/1.1 200 X\r\nContent-Length: 6\r\n\r\nsecret";
        SSL_write(ssl, answer.data(), static_cast<int>(answer.size()));
      }
    }
    SSL_free(ssl);
  }

  Result<HttpAnswer> Ask(const std::string& host, HttpClientOptions options) {
    auto client =
        HttpClient::Make(*ParseUrl(Format("https://{}:{}/", host, server.port())), options);
    if (!client) return client.error();
    for (int i = 0; i < 2; ++i) {
      auto answer = (*client)->Send({.method = "GET"});
      if (!answer) return answer.error();
    }
    return (*client)->Send({.method = "GET"});
  }

  test::FakeRoot folder;
  std::string ca_file = folder.path() + "/ca.pem";
  Identity identity{"right.test"};
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context{SSL_CTX_new(TLS_server_method()),
                                                            SSL_CTX_free};
  ScriptedServer server{[this](Peer& peer) { Serve(peer); }};
};

TEST_F(TlsTest, TrustsTheGivenAuthorityAndKeepsTheConnection) {
  const auto answer = Ask("right.test", {.ca_file = ca_file, .address = "127.0.0.1"});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->body, "secret");
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(TlsTest, ChecksANumericHostAgainstTheCertificate) {
  EXPECT_TRUE(Ask("127.0.0.1", {.ca_file = ca_file}).ok());
  EXPECT_FALSE(Ask("127.0.0.2", {.ca_file = ca_file, .address = "127.0.0.1"}).ok());
}

TEST_F(TlsTest, RefusesAnotherName) {
  const auto answer = Ask("wrong.test", {.ca_file = ca_file, .address = "127.0.0.1"});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kUnavailable);
  EXPECT_NE(answer.error().message.find("hostname mismatch"), std::string::npos)
      << answer.error().message;
}

TEST_F(TlsTest, RefusesAnAuthorityItDoesNotKnow) {
  const Identity other("right.test");
  other.Save(folder.path() + "/other.pem");
  for (const std::string& file : {std::string(), folder.path() + "/other.pem"}) {
    const auto answer = Ask("right.test", {.ca_file = file, .address = "127.0.0.1"});
    ASSERT_FALSE(answer.ok());
    EXPECT_TRUE(answer.error().message.starts_with("TLS: ")) << answer.error().message;
  }
}

TEST_F(TlsTest, NamesACaFileThatIsNone) {
  folder.Write("/junk.pem", "junk");
  for (const char* name : {"/nowhere.pem", "/junk.pem"}) {
    const auto answer = Ask("right.test", {.ca_file = folder.path() + name});
    ASSERT_FALSE(answer.ok());
    EXPECT_NE(answer.error().message.find(name), std::string::npos);
  }
}

TEST_F(TlsTest, EndsAHandshakeThatIsNeverDone) {
  ScriptedServer silent([](Peer& peer) { peer.WaitClosed(); });
  auto client = HttpClient::Make(*ParseUrl(Format("https://127.0.0.1:{}/", silent.port())),
                                 {.connect_limit = 100ms});
  const auto answer = (*client)->Send({.method = "GET"});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().message, "not done within its time");
}

TEST_F(TlsTest, SaysThatAPlainServerSpeaksNoTls) {
  ScriptedServer plain([](Peer& peer) { peer.Reply(400, "plain"); });
  auto client = HttpClient::Make(*ParseUrl(Format("https://127.0.0.1:{}/", plain.port())));
  const auto answer = (*client)->Send({.method = "GET"});
  ASSERT_FALSE(answer.ok());
  EXPECT_TRUE(answer.error().message.starts_with("TLS: ")) << answer.error().message;
}

}  // namespace
}  // namespace stepscope
