#include "server/access/access.h"

#include <gtest/gtest.h>

#include "server/access/issue.h"
#include "tests/support/fake_clock.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

constexpr const char* kPeer = "198.51.100.7";

class AccessTest : public testing::Test {
 protected:
  IssuedToken Token() {
    const auto issued = IssueToken(*test_database_.Connect(),
                                   {.name = "maria", .role = Role::kReader, .expires_days = 1},
                                   "test", ToMicros(clock_.Now()));
    return issued ? *issued : IssuedToken();
  }
  Identity::Kind Ask(Access& access, const std::string& token) {
    return access.Ask({.token = token, .session = {}, .certificate = ""}, kPeer).kind;
  }
  Identity::Kind AskWithCookie(const std::string& cookie) {
    return access_.Ask({.token = {}, .session = cookie, .certificate = ""}, kPeer).kind;
  }
  Status Revoke(const IssuedToken& token) {
    return RevokeToken(*test_database_.Connect(), token.row.token_id, ToMicros(clock_.Now()));
  }

  TestDatabase test_database_;
  Database database_{test_database_.url(), 2};
  test::FakeClock clock_;
  Access access_{database_, clock_, true}, replica_{database_, clock_, true};
};

TEST_F(AccessTest, ATokenThatWasRevokedEndsHereAtOnceAndElsewhereWithinHalfAMinute) {
  const IssuedToken token = Token();
  EXPECT_EQ(Ask(access_, token.text), Identity::kKnown);
  EXPECT_EQ(Ask(replica_, token.text), Identity::kKnown);
  ASSERT_TRUE(Revoke(token).ok());
  access_.ForgetToken(token.row.token_id);
  EXPECT_EQ(Ask(access_, token.text), Identity::kBad);
  EXPECT_EQ(Ask(replica_, token.text), Identity::kKnown);
  clock_.Advance(30s);
  EXPECT_EQ(Ask(replica_, token.text), Identity::kBad);
}

TEST_F(AccessTest, ATokenEndsFiveMinutesAfterItsTimeEvenWhileItIsRemembered) {
  const IssuedToken token = Token();
  clock_.Advance(std::chrono::hours(24) + 4min + 50s);
  EXPECT_EQ(Ask(access_, token.text), Identity::kKnown);
  clock_.Advance(11s);
  EXPECT_EQ(Ask(access_, token.text), Identity::kBad);
}

TEST_F(AccessTest, ASessionEndsAfterTwelveHoursWithoutUse) {
  const Access::SignedIn entered = access_.SignIn(Token().text, kPeer);
  ASSERT_EQ(entered.identity.kind, Identity::kKnown);
  const Credentials browser{.token = {}, .session = entered.cookie, .certificate = ""};
  clock_.Advance(std::chrono::hours(11));
  EXPECT_EQ(access_.Ask(browser, kPeer).kind, Identity::kKnown);
  clock_.Advance(std::chrono::hours(12) + 1s);
  EXPECT_EQ(access_.Ask(browser, kPeer).kind, Identity::kBad);
}

TEST_F(AccessTest, ACookieIsNoTokenHoweverWellItIsKnown) {
  const std::string cookie = access_.SignIn(Token().text, kPeer).cookie;
  EXPECT_EQ(Ask(access_, cookie), Identity::kBad);
  EXPECT_EQ(access_.SignIn(cookie, kPeer).identity.kind, Identity::kBad);
  EXPECT_EQ(AskWithCookie(cookie), Identity::kKnown);
  EXPECT_EQ(Ask(access_, cookie), Identity::kBad);
  EXPECT_EQ(access_.SignIn(cookie, kPeer).identity.kind, Identity::kBad);
}

TEST_F(AccessTest, ATokenIsNoCookieHoweverWellItIsKnown) {
  const IssuedToken token = Token();
  EXPECT_EQ(AskWithCookie(token.text), Identity::kBad);
  EXPECT_EQ(Ask(access_, token.text), Identity::kKnown);
  EXPECT_EQ(AskWithCookie(token.text), Identity::kBad);
}

TEST_F(AccessTest, NothingOfASessionOutlivesItsSignOut) {
  const IssuedToken token = Token();
  const std::string cookie = access_.SignIn(token.text, kPeer).cookie;
  EXPECT_EQ(AskWithCookie(cookie), Identity::kKnown);
  EXPECT_EQ(access_.SignIn(cookie, kPeer).identity.kind, Identity::kBad);
  ASSERT_TRUE(access_.SignOut(cookie).ok());
  EXPECT_EQ(AskWithCookie(cookie), Identity::kBad);
  const auto kept = test_database_.Connect()->Query("select count(*) from sessions");
  EXPECT_EQ(kept->Int(0, 0), 0);
  EXPECT_EQ(Ask(access_, token.text), Identity::kKnown) << "the token is not the session";
}

TEST_F(AccessTest, ACertificateIsAnAgentOfItsNameUnlessATokenIsShown) {
  const Identity found = access_.Check({.token = {}, .session = {}, .certificate = "n"}, kPeer);
  ASSERT_EQ(found.kind, Identity::kKnown);
  EXPECT_EQ(found.caller->name, "n");
  EXPECT_EQ(found.caller->role, Role::kAgent);
  EXPECT_EQ(found.caller->how, Caller::kCertificate);
  const Credentials both{.token = "nonsense", .session = {}, .certificate = "n"};
  EXPECT_EQ(access_.Ask(both, kPeer).kind, Identity::kBad);
}

TEST_F(AccessTest, ADatabaseThatIsAwayIsNotABadToken) {
  Database nowhere("postgresql:///none?host=/nowhere", 1);
  Access blind(nowhere, clock_, true);
  const IssuedToken token = Token();
  for (int count = 0; count < 12; ++count) {
    EXPECT_EQ(Ask(blind, token.text), Identity::kUnavailable);
  }
}

TEST_F(AccessTest, WhereNoTokensAreDemandedThisMachineIsTheAdminAndNobodyElse) {
  Access open(database_, clock_, false);
  for (const char* peer : {"127.0.0.1", "::1", "unix"}) {
    EXPECT_EQ(open.Check({}, peer).kind, Identity::kKnown) << peer;
  }
  EXPECT_EQ(open.Check({}, "127.0.0.1").caller->role, Role::kAdmin);
  for (const char* peer : {kPeer, "behind 127.0.0.1", ""}) {
    EXPECT_EQ(open.Check({}, peer).kind, Identity::kNobody) << peer;
  }
}

}  // namespace
}  // namespace stepscope
