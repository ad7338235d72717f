// Certificates of our own making against real TLS.

#include "server/app/commands/tls_certificate.h"

#include <gtest/gtest.h>

#include "core/http/client.h"
#include "tests/support/fake_root.h"
#include "tests/support/scripted_server.h"

namespace stepscope {
namespace {

using test::Peer;
using test::ScriptedServer;

const Time kCertificateNow = std::chrono::system_clock::now();

struct TlsCertificateTest : testing::Test {
  // The files of this name, and a server that shows them.
  void Use(const std::string& name, const CertificateAndKey& made) const {
    folder.Write("/" + name + ".crt", made.certificate);
    folder.Write("/" + name + ".key", made.key);
  }
  std::string Path(const std::string& name) const { return folder.path() + "/" + name; }

  std::string Ask(const std::string& host, const std::string& agent = "") {
    Use("server", *MakeServerCertificate(authority, hosts, {kCertificateNow, 30}));
    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_server_method()),
                                                              SSL_CTX_free);
    SSL_CTX_use_certificate_chain_file(context.get(), Path("server.crt").c_str());
    SSL_CTX_use_PrivateKey_file(context.get(), Path("server.key").c_str(), SSL_FILETYPE_PEM);
    SSL_CTX_load_verify_locations(context.get(), Path("ca.crt").c_str(), nullptr);
    const int must = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    if (!agent.empty()) SSL_CTX_set_verify(context.get(), must, nullptr);
    ScriptedServer server([&](Peer& peer) {
      if (peer.StartTls(context.get()) && peer.Read()) peer.Reply(200, "ok");
      peer.WaitClosed();
    });
    HttpClientOptions options{.tls = {.ca_file = Path("ca.crt")}, .addresses = {"127.0.0.1"}};
    if (!agent.empty()) {
      options.tls.cert_file = Path(agent + ".crt");
      options.tls.key_file = Path(agent + ".key");
    }
    const auto url = Format("https://{}:{}/", host, server.port());
    auto client = HttpClient::Make(*ParseUrl(url), options);
    if (!client) return client.error().message;
    const auto answer = (*client)->Send({.method = "GET"});
    return answer ? answer->body : answer.error().message;
  }

  TlsCertificateTest() { Use("ca", authority); }

  test::FakeRoot folder;
  CertificateAndKey authority = *MakeAuthority("test authority", {kCertificateNow, 365});
  std::vector<std::string> hosts = {"stepscope.test", "*.nodes.test", "192.0.2.7", "2001:db8::7"};
};

TEST_F(TlsCertificateTest, IsGoodForEveryNameAndAddressAndNoOther) {
  for (const char* good :
       {"stepscope.test", "a.nodes.test", "192.0.2.7", "[2001:db8::7]", "[2001:db8:0::7]"}) {
    EXPECT_EQ(Ask(good), "ok") << good;
  }
  for (const char* wrong : {"other.test", "a.b.nodes.test", "192.0.2.8"}) {
    EXPECT_NE(Ask(wrong).find("is for other names"), std::string::npos) << wrong;
  }
}

TEST_F(TlsCertificateTest, IsTrustedByItsOwnAuthorityOnly) {
  Use("ca", *MakeAuthority("test authority", {kCertificateNow, 365}));
  EXPECT_NE(Ask("stepscope.test").find("is not trusted"), std::string::npos);
}

TEST_F(TlsCertificateTest, OfAnAgentIsGoodForClientsAlone) {
  Use("agent", *MakeAgentCertificate(authority, "node-1", {kCertificateNow, 30}));
  EXPECT_EQ(Ask("stepscope.test", "agent"), "ok");
  EXPECT_NE(Ask("stepscope.test", "server"), "ok");
}

TEST_F(TlsCertificateTest, EndsWithItsAuthority) {
  const auto made = MakeServerCertificate(authority, hosts, {kCertificateNow, 3650});
  EXPECT_EQ(*EndOf(made->certificate), *EndOf(authority.certificate));
  const auto shorter = MakeServerCertificate(authority, hosts, {kCertificateNow, 30});
  EXPECT_LT(*EndOf(shorter->certificate), *EndOf(authority.certificate));
}

TEST_F(TlsCertificateTest, IsNeverTheSameTwice) {
  const auto one = MakeServerCertificate(authority, hosts, {kCertificateNow, 30});
  const auto other = MakeServerCertificate(authority, hosts, {kCertificateNow, 30});
  EXPECT_NE(one->key, other->key);
  EXPECT_NE(one->certificate, other->certificate);
}

TEST_F(TlsCertificateTest, NeedsAnAuthority) {
  const CertificateAndKey server = *MakeServerCertificate(authority, hosts, {kCertificateNow, 30});
  const CertificateAndKey odd[] = {
      {}, {"junk", "junk"}, {authority.certificate, server.key}, {server.certificate, server.key}};
  for (const CertificateAndKey& signer : odd) {
    const auto made = MakeServerCertificate(signer, hosts, {kCertificateNow, 30});
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, Code::kInvalid);
  }
  EXPECT_FALSE(MakeServerCertificate(authority, {}, {kCertificateNow, 30}).ok());
}

TEST_F(TlsCertificateTest, TakesNamesOfAnyLengthThatAHostMayHave) {
  const std::string label(60, 'a');
  hosts = {label + "." + label + "." + label + ".test"};
  EXPECT_EQ(Ask(hosts[0]), "ok");
  EXPECT_TRUE(
      MakeAgentCertificate(authority, "kn\xc3\xb6ten, CN=admin", {kCertificateNow, 30}).ok());
  EXPECT_FALSE(MakeAgentCertificate(authority, std::string(65, 'a'), {kCertificateNow, 30}).ok());
}

}  // namespace
}  // namespace stepscope
