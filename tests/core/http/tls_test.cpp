// https against a TLS server of our own, with certificates made on the spot.

#include <gtest/gtest.h>

#include <atomic>

#include "core/base/text.h"
#include "core/http/client.h"
#include "tests/support/fake_root.h"
#include "tests/support/identity.h"
#include "tests/support/scripted_server.h"

namespace stepscope {
namespace {

using test::Identity;
using test::Peer;
using test::ScriptedServer;
using test::ServerContext;

struct TlsTest : testing::Test {
  TlsTest() { identity.Save(ca_file); }

  // Answers every request of a connection.
  void Serve(Peer& peer) {
    if (!peer.StartTls(context.get())) return;
    resumed += SSL_session_reused(peer.ssl());
    while (peer.Read()) peer.Reply(200, "secret");
  }

  std::unique_ptr<HttpClient> ClientOf(const ScriptedServer& of, HttpClientOptions options,
                                       const std::string& host = "127.0.0.1") {
    auto client =
        HttpClient::Make(*ParseUrl(Format("https://{}:{}/", host, of.port())), std::move(options));
    EXPECT_TRUE(client.ok());
    return std::move(*client);
  }

  Result<HttpAnswer> Ask(const std::string& host, HttpClientOptions options) {
    const auto client = ClientOf(server, std::move(options), host);
    for (int i = 0; i < 2; ++i) {
      auto answer = client->Send({.method = "GET"});
      if (!answer) return answer.error();
    }
    return client->Send({.method = "GET"});
  }

  std::string ErrorOf(const std::string& host, HttpClientOptions options) {
    const auto answer = Ask(host, std::move(options));
    if (answer.ok()) return "answered";
    EXPECT_EQ(answer.error().code, Code::kUnavailable);
    return answer.error().message;
  }
  // The error of one request to a server that runs this script.
  std::string ErrorOf(ScriptedServer::Script script, HttpClientOptions options = {}) {
    ScriptedServer other(std::move(script));
    options.tls.ca_file = ca_file;
    const auto answer = ClientOf(other, options)->Send({.method = "GET"});
    return answer.ok() ? "answered" : answer.error().message;
  }
  HttpClientOptions Trusting() const {
    return {.tls = {.ca_file = ca_file}, .addresses = {"127.0.0.1"}};
  }

  test::FakeRoot folder;
  std::string ca_file = folder.path() + "/ca.pem";
  Identity identity{"right.test"};
  test::TlsContext context = ServerContext(identity);
  std::atomic<int> resumed = 0;
  ScriptedServer server{[this](Peer& peer) { Serve(peer); }};
};

TEST_F(TlsTest, TrustsTheGivenAuthorityAndKeepsTheConnection) {
  const auto answer = Ask("right.test", Trusting());
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->body, "secret");
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(TlsTest, ResumesItsSessionOnTheNextConnection) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    SSL_CTX_set_max_proto_version(context.get(), version);
    resumed = 0;
    ScriptedServer once([this](Peer& peer) {
      if (!peer.StartTls(context.get()) || !peer.Read()) return;
      resumed += SSL_session_reused(peer.ssl());
      peer.Reply(200, "", "Connection: close\r\n");
    });
    const auto client = ClientOf(once, Trusting());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(client->Send({.method = "GET"}).ok());
    EXPECT_EQ(once.connections(), 3);
    EXPECT_EQ(resumed, 2);
  }
}

TEST_F(TlsTest, ChecksANumericHostAgainstTheCertificate) {
  EXPECT_TRUE(Ask("127.0.0.1", {.tls = {.ca_file = ca_file}}).ok());
  EXPECT_EQ(ErrorOf("127.0.0.2", Trusting()),
            "the certificate of '127.0.0.2' is for other names: DNS:right.test, IP "
            "Address:127.0.0.1");
}

TEST_F(TlsTest, RefusesAnotherName) {
  EXPECT_EQ(ErrorOf("wrong.test", Trusting()),
            "the certificate of 'wrong.test' is for other names: DNS:right.test, IP "
            "Address:127.0.0.1");
}

TEST_F(TlsTest, RefusesAnAuthorityItDoesNotKnow) {
  Identity("right.test").Save(folder.path() + "/other.pem");
  for (const std::string& file : {std::string(), folder.path() + "/other.pem"}) {
    const auto error =
        ErrorOf("right.test", {.tls = {.ca_file = file}, .addresses = {"127.0.0.1"}});
    EXPECT_TRUE(error.starts_with("the certificate of 'right.test' is not trusted (")) << error;
  }
}

TEST_F(TlsTest, SaysWhichCertificateIsOutOfItsTime) {
  for (const auto& [from, until, sentence] :
       std::initializer_list<std::tuple<long, long, std::string>>{
           {-7200, -3600, "the certificate of 'right.test' has expired: it was good until "},
           {3600, 7200, "the certificate of 'right.test' is good from "}}) {
    const Identity odd(Identity::Spec{.from_seconds = from, .until_seconds = until});
    odd.Save(ca_file);
    context = ServerContext(odd);
    const auto error = ErrorOf("right.test", Trusting());
    EXPECT_TRUE(error.starts_with(sentence)) << error;
    EXPECT_NE(error.find(" UTC"), std::string::npos);
  }
}

TEST_F(TlsTest, UsesAnAuthorityThatWasReplacedAfterAFailure) {
  Identity("right.test").Save(ca_file);
  const auto client = ClientOf(server, Trusting(), "right.test");
  EXPECT_FALSE(client->Send({.method = "GET"}).ok());
  identity.Save(ca_file);
  EXPECT_TRUE(client->Send({.method = "GET"}).ok());
}

TEST_F(TlsTest, NamesAFileThatIsNoGood) {
  folder.Write("/junk.pem", "junk");
  const std::string cert = folder.path() + "/cert.pem", key = folder.path() + "/key.pem",
                    locked = folder.path() + "/locked.pem";
  identity.Save(cert);
  Identity("other.test").SaveKey(key);
  identity.SaveKey(locked, "password");
  const std::string nowhere = folder.path() + "/nowhere.pem", junk = folder.path() + "/junk.pem";
  const std::pair<TlsOptions, std::string> wrong[] = {
      {{.ca_file = nowhere}, nowhere},
      {{.ca_file = junk}, junk},
      {{.cert_file = nowhere, .key_file = key}, nowhere},
      {{.cert_file = junk, .key_file = key}, junk},
      {{.cert_file = cert, .key_file = nowhere}, nowhere},
      {{.cert_file = cert, .key_file = key}, key},
      {{.cert_file = cert, .key_file = locked}, locked}};
  for (const auto& [files, name] : wrong) {
    const auto client = HttpClient::Make(*ParseUrl("https://right.test"), {.tls = files});
    ASSERT_FALSE(client.ok()) << name;
    EXPECT_EQ(client.error().code, Code::kInvalid);
    EXPECT_NE(client.error().message.find(name), std::string::npos) << client.error().message;
  }
}

struct ClientCertificateTest : TlsTest {
  ClientCertificateTest() {
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    SSL_CTX_load_verify_locations(context.get(), ca_file.c_str(), nullptr);
    SSL_CTX_set_session_id_context(context.get(), reinterpret_cast<const unsigned char*>("t"), 1);
    Give(node);
  }
  void Give(const Identity& own) const {
    own.Save(files().cert_file);
    own.SaveKey(files().key_file);
  }
  TlsOptions files() const {
    return {ca_file, folder.path() + "/node.pem", folder.path() + "/node-key.pem"};
  }
  HttpClientOptions Identified() const { return {.tls = files(), .addresses = {"127.0.0.1"}}; }

  Identity node{Identity::Spec{.name = "node-1", .signer = &identity}};
};

TEST_F(ClientCertificateTest, ShowsItsCertificateToAServerThatWantsOne) {
  const auto answer = Ask("right.test", Identified());
  EXPECT_TRUE(answer.ok()) << answer.error().message;
}

TEST_F(ClientCertificateTest, UsesAReplacedCertificateOnTheNextConnection) {
  std::vector<std::string> seen;
  ScriptedServer once([&](Peer& peer) {
    if (!peer.StartTls(context.get()) || !peer.Read()) return;
    X509* shown = SSL_get1_peer_certificate(peer.ssl());
    char name[64] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(shown), NID_commonName, name, sizeof name);
    X509_free(shown);
    seen.emplace_back(name);
    peer.Reply(200, "", "Connection: close\r\n");
    peer.WaitClosed();
  });
  SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  const auto client = ClientOf(once, Identified(), "right.test");
  ASSERT_TRUE(client->Send({.method = "GET"}).ok());
  Give(Identity(Identity::Spec{.name = "node-2", .signer = &identity}));
  ASSERT_TRUE(client->Send({.method = "GET"}).ok());
  EXPECT_EQ(seen, (std::vector<std::string>{"node-1", "node-2"}));
}

TEST_F(ClientCertificateTest, SaysThatTheServerWantsOneOrDoesNotTakeIt) {
  EXPECT_EQ(ErrorOf("right.test", Trusting()), "'right.test' wants a client certificate");
  Give(Identity("stranger"));
  EXPECT_EQ(ErrorOf("right.test", Identified()),
            "'right.test' does not take our client certificate");
}

TEST_F(TlsTest, EndsAHandshakeThatIsNeverDone) {
  EXPECT_EQ(ErrorOf([](Peer& peer) { peer.WaitClosed(); }, {.connect_limit = 100ms}),
            "not done within its time");
}

TEST_F(TlsTest, EndsAHandshakeThatDrips) {
  const auto drip = [](Peer& peer) {
    peer.Write({"\x16\x03\x03\x40\x00\x02\x00\x3f\x00", 9});
    while (peer.Pause(5) && peer.Write("y")) {
    }
  };
  EXPECT_EQ(ErrorOf(drip, {.connect_limit = 100ms}), "not done within its time");
}

// OpenSSL skips such messages in a loop of its own that ends only when nothing more comes.
TEST_F(TlsTest, EndsAnEndlessHandshake) {
  std::string hello_requests("\x16\x03\x03\x40\x00", 5);
  hello_requests.append(0x4000, '\0');
  const auto flood = [&](Peer& peer) {
    while (peer.Write(hello_requests)) {
    }
  };
  EXPECT_EQ(ErrorOf(flood, {.connect_limit = 200ms}), "not done within its time");
}

TEST_F(TlsTest, EndsEndlessTicketsBehindTheHandshake) {
  const auto flood = [&](Peer& peer) {
    if (!peer.StartTls(context.get())) return;
    while (peer.Pause(0) && SSL_new_session_ticket(peer.ssl()) == 1 && peer.WriteTickets()) {
    }
  };
  EXPECT_EQ(ErrorOf(flood, {.request_limit = 300ms}), "not done within its time");
}

TEST_F(TlsTest, SaysThatAPlainServerSpeaksNoTls) {
  EXPECT_EQ(ErrorOf([](Peer& peer) { peer.Reply(400, "plain"); }),
            "'127.0.0.1' does not speak TLS there; is it http:// ?");
}

TEST_F(TlsTest, SaysThatAnOldServerIsTooOld) {
  SSL_CTX_set_min_proto_version(context.get(), 0);
  SSL_CTX_set_max_proto_version(context.get(), TLS1_1_VERSION);
  SSL_CTX_set_cipher_list(context.get(), "ALL:@SECLEVEL=0");
  EXPECT_EQ(ErrorOf("right.test", Trusting()), "'right.test' speaks neither TLS 1.2 nor 1.3");
}

TEST_F(TlsTest, SaysThatAPlainClientMeetsTls) {
  ScriptedServer alerted([](Peer& peer) {
    peer.Read();
    peer.Write({"\x15\x03\x01\x00\x02\x02\x46", 7});
  });
  auto client = HttpClient::Make(*ParseUrl(alerted.url()));
  const auto answer = (*client)->Send({.method = "GET"});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().message, "it speaks TLS there; is it https:// ?");
}

}  // namespace
}  // namespace stepscope
