// Certificates that clients show.

#include "tests/server/edge/tls_edge_test.h"

namespace stepscope {
namespace {

using test::Identity;

class TlsClientTest : public TlsEdgeTest {
 protected:
  void Trust(const Identity& authority, bool required) {
    authority.Save(Path("ca.crt"));
    files_.client_ca = Path("ca.crt");
    files_.require_client_certificate = required;
    EXPECT_TRUE(edge_.UseTls(files_).ok());
  }
  std::string NameOf(const TlsOffer& offer) const {
    const std::string body = BodyOf(AskTls(Get("/peer"), offer));
    return body.starts_with("127.0.0.1 true ") ? body.substr(15) : "refused";
  }

  const Identity authority_{"authority"};
  const Identity node_{Identity::Spec{.name = "node-1", .signer = &authority_}};
};

TEST_F(TlsClientTest, WithoutAnAuthorityNobodyIsBelieved) {
  EXPECT_EQ(NameOf({.identity = &node_}), "");
}

TEST_F(TlsClientTest, AVerifiedCertificateGivesItsName) {
  Trust(authority_, false);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    EXPECT_EQ(NameOf({.version = version, .identity = &node_}), "node-1");
    EXPECT_EQ(NameOf({.version = version}), "");
  }
}

TEST_F(TlsClientTest, AUriIsTheNameWhereThereIsOne) {
  Trust(authority_, false);
  const Identity named(
      Identity::Spec{.name = "node-1", .signer = &authority_, .uri = "spiffe://a/node-2"});
  EXPECT_EQ(NameOf({.identity = &named}), "spiffe://a/node-2");
}

TEST_F(TlsClientTest, WhereOneIsRequiredNobodyComesWithout) {
  Trust(authority_, true);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    EXPECT_EQ(NameOf({.version = version}), "refused");
    EXPECT_EQ(NameOf({.version = version, .identity = &node_}), "node-1");
  }
}

TEST_F(TlsClientTest, OneOfAnotherAuthorityOrTooOldIsRefusedEvenWhereNoneIsRequired) {
  Trust(authority_, false);
  const Identity stranger("node-1");
  const Identity old(Identity::Spec{
      .name = "node-1", .from_seconds = -7200, .until_seconds = -3600, .signer = &authority_});
  EXPECT_EQ(NameOf({.identity = &stranger}), "refused");
  EXPECT_EQ(NameOf({.identity = &old}), "refused");
}

TEST_F(TlsClientTest, AResumedSessionKeepsItsName) {
  Trust(authority_, true);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsRawClient first(edge_.port(), {.version = version, .identity = &node_});
    EXPECT_EQ(StatusOf(AskOver(first, Get("/peer"))), 200);
    const TlsSession session = first.session();
    TlsRawClient second(edge_.port(),
                        {.version = version, .identity = &node_, .session = session.get()});
    EXPECT_EQ(BodyOf(AskOver(second, Get("/peer"))), "127.0.0.1 true node-1") << version;
    EXPECT_TRUE(second.resumed());
  }
}

// Neither a connection nor a session that is resumed again and again makes it last longer.
TEST_F(TlsClientTest, ACertificateThatEndsMeanwhileIsBelievedNoMore) {
  Trust(authority_, false);
  const Identity soon(Identity::Spec{.name = "node-1", .until_seconds = 2, .signer = &authority_});
  TlsRawClient live(edge_.port(), {.identity = &soon});
  EXPECT_EQ(BodyOf(AskOver(live, Get("/peer"))), "127.0.0.1 true node-1");
  const TlsSession session = live.session();
  EXPECT_TRUE(Eventually([&] { return BodyOf(AskOver(live, Get("/peer"))) == "127.0.0.1 true "; }));
  TlsRawClient again(edge_.port(), {.identity = &soon, .session = session.get()});
  EXPECT_EQ(BodyOf(AskOver(again, Get("/peer"))), "127.0.0.1 true ");
  EXPECT_TRUE(again.resumed());
}

TEST_F(TlsClientTest, ATextThatCannotBeANameIsNone) {
  Trust(authority_, false);
  for (const char* name : {"node\n1", "node-1\x7f", "\x01"}) {
    const Identity odd(Identity::Spec{.name = name, .signer = &authority_});
    EXPECT_EQ(NameOf({.identity = &odd}), "");
  }
}

TEST_F(TlsClientTest, AnAuthorityThatIsGoneIsGoneForOldSessionsToo) {
  Trust(authority_, true);
  TlsRawClient first(edge_.port(), {.identity = &node_});
  EXPECT_EQ(StatusOf(AskOver(first, Get("/peer"))), 200);
  const TlsSession session = first.session();
  Trust(Identity("another"), true);
  EXPECT_EQ(NameOf({.identity = &node_, .session = session.get()}), "refused");
}

}  // namespace
}  // namespace stepscope
