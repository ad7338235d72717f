#include "server/alert/address_policy.h"

#include <gtest/gtest.h>

#include "core/base/text.h"

namespace stepscope {
namespace {

AddressPolicy Allow(const std::vector<std::string>& ranges) {
  auto policy = AddressPolicy::Read(ranges);
  EXPECT_TRUE(policy.ok());
  return *policy;
}

Resolver Always(std::vector<std::string> addresses) {
  return [addresses](const std::string&) { return Result<std::vector<std::string>>(addresses); };
}

TEST(AddressPolicy, RefusesWhatIsNotPublic) {
  const char* const refused[] = {"0.0.0.0",
                                 "10.1.2.3",
                                 "100.64.0.1",
                                 "127.0.0.1",
                                 "127.255.255.254",
                                 "169.254.169.254",
                                 "172.16.0.1",
                                 "172.31.255.255",
                                 "192.0.0.8",
                                 "192.168.1.1",
                                 "198.18.0.1",
                                 "198.19.255.255",
                                 "224.0.0.1",
                                 "240.0.0.1",
                                 "255.255.255.255",
                                 "::",
                                 "::1",
                                 "::127.0.0.1",
                                 "fc00::1",
                                 "fdff::1",
                                 "fe80::1",
                                 "ff02::1",
                                 "::ffff:10.0.0.1",
                                 "::ffff:7f00:1",
                                 "64:ff9b::10.0.0.1",
                                 "64:ff9b::7f00:1",
                                 "2002:7f00:1::",
                                 "2002:a00:1::1",
                                 "nonsense",
                                 "fe80::1%eth0"};
  for (const char* address : refused) EXPECT_FALSE(AddressPolicy().Check(address).ok()) << address;
}

TEST(AddressPolicy, AllowsWhatIsPublic) {
  const char* const allowed[] = {
      "8.8.8.8",     "100.63.255.255", "100.128.0.1",      "172.15.0.1",
      "172.32.0.1",  "192.169.0.1",    "198.20.0.1",       "223.255.255.255",
      "2606:4700::", "2002:808:808::", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8"};
  for (const char* address : allowed) EXPECT_TRUE(AddressPolicy().Check(address).ok()) << address;
}

TEST(AddressPolicy, AllowsWhatTheConfigurationNames) {
  const auto policy = Allow({"10.20.0.0/16", "fd00::/8"});
  EXPECT_TRUE(policy.Check("10.20.3.4").ok());
  EXPECT_TRUE(policy.Check("::ffff:10.20.3.4").ok());
  EXPECT_TRUE(policy.Check("fd00::9").ok());
  EXPECT_FALSE(policy.Check("10.21.3.4").ok());
  EXPECT_FALSE(policy.Check("127.0.0.1").ok());
}

TEST(AddressPolicy, LoopbackAndLinkLocalMustBeNamed) {
  const auto everything = Allow({"0.0.0.0/0", "::/0"});
  EXPECT_TRUE(everything.Check("192.168.1.1").ok());
  EXPECT_FALSE(everything.Check("127.0.0.1").ok());
  EXPECT_FALSE(everything.Check("169.254.169.254").ok());
  EXPECT_FALSE(everything.Check("::1").ok());
  EXPECT_TRUE(Allow({"127.0.0.0/8"}).Check("127.0.0.1").ok());
  EXPECT_TRUE(Allow({"127.0.0.1"}).Check("127.0.0.1").ok());
  EXPECT_TRUE(Allow({"::1/128"}).Check("::1").ok());
  EXPECT_FALSE(Allow({"127.0.0.1"}).Check("127.0.0.2").ok());
}

TEST(AddressPolicy, NamesTheRangeThatIsNone) {
  for (const char* text : {"", "10.0.0.0/33", "10.0.0/8", "fd00::/129", "10.0.0.0/-1",
                           "10.0.0.0/8x", "host/8", "10.0.0.0/"}) {
    EXPECT_FALSE(AddressPolicy::Read({text}).ok()) << text;
  }
  EXPECT_EQ(AddressPolicy::Read({"10.0.0.0/33"}).error().message,
            "'10.0.0.0/33' is no range of addresses such as 10.20.0.0/16 or fd00::/8");
}

TEST(CheckWebhookUrl, SaysWhatIsWrongWithoutLookingNamesUp) {
  const AddressPolicy policy;
  EXPECT_TRUE(CheckWebhookUrl("https://hooks.example.com/x?y=1", policy).ok());
  EXPECT_TRUE(CheckWebhookUrl("http://hooks.example.com:8080/", policy).ok());
  const char* const wrong[] = {"ftp://example.com/",
                               "https://user:pw@example.com/",
                               "https://example.com:22/",
                               "http://127.0.0.1/",
                               "http://127.1/",
                               "http://2130706433/",
                               "http://0x7f000001/",
                               "http://017700000001/",
                               "http://[::1]/",
                               "http://[fe80::1]/",
                               "http://[::ffff:10.0.0.1]/",
                               "http://169.254.169.254/latest",
                               "http://10.0.0.1:443/",
                               "example.com",
                               "https://"};
  for (const char* url : wrong) EXPECT_FALSE(CheckWebhookUrl(url, policy).ok()) << url;
  EXPECT_EQ(CheckWebhookUrl("http://127.0.0.1/", policy).error().message,
            "webhook http://127.0.0.1/: its address 127.0.0.1 is loopback (127.0.0.0/8) and not "
            "allowed by --webhook-allow");
}

TEST(FindTarget, RefusesANameWithOnePrivateAddressAmongMany) {
  const auto target = FindTarget("https://rebind.example/", {}, Always({"8.8.8.8", "10.0.0.1"}));
  EXPECT_EQ(target.error().code, Code::kInvalid);
}

// Where the URL takes such a host for a name, the resolver of the system takes it for an address.
TEST(FindTarget, RefusesLoopbackHoweverItIsSpelled) {
  const char* const spellings[] = {"127.1",
                                   "0177.0.0.1",
                                   "0x7f.0.0.1",
                                   "0x7F000001",
                                   "017700000001",
                                   "2130706433",
                                   "127.0.0.01",
                                   "0",
                                   "localhost.",
                                   "LOCALHOST",
                                   "%31%32%37.0.0.1",
                                   "[::1]",
                                   "[0:0:0:0:0:0:0:1]",
                                   "[::127.0.0.1]",
                                   "[::ffff:127.0.0.1]",
                                   "[::ffff:7f00:1]",
                                   "[0:0:0:0:0:FFFF:7F00:0001]",
                                   "[::ffff:0:127.0.0.1]",
                                   "[64:ff9b::127.0.0.1]",
                                   "[64:ff9b:1::127.0.0.1]",
                                   "[2002:7f00:1::1]",
                                   "[2001:0:7f00:1::1]",
                                   "[fe80::1]",
                                   "[fe80::1%25lo]",
                                   "[fec0::1]"};
  for (const char* host : spellings) {
    EXPECT_FALSE(FindTarget(Format("http://{}/", host), {}, ResolveHost).ok()) << host;
  }
}

TEST(FindTarget, GivesTheAddressesThatWereChecked) {
  const auto target = FindTarget("https://good.example/", {}, Always({"8.8.8.8", "8.8.4.4"}));
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->addresses, (std::vector<std::string>{"8.8.8.8", "8.8.4.4"}));
  EXPECT_EQ(target->url.host, "good.example");
  EXPECT_EQ(FindTarget("https://none.example/", {}, Always({})).error().code, Code::kUnavailable);
}

TEST(FindTarget, OddPortsAreForNamedAddresses) {
  EXPECT_FALSE(FindTarget("http://127.0.0.1:9000/", {}, ResolveHost).ok());
  EXPECT_TRUE(FindTarget("http://127.0.0.1:9000/", Allow({"127.0.0.0/8"}), ResolveHost).ok());
  EXPECT_FALSE(FindTarget("http://x.example:9000/", {}, Always({"8.8.8.8"})).ok());
  const auto policy = Allow({"10.20.0.0/16"});
  EXPECT_TRUE(CheckWebhookUrl("http://x.example:9000/", policy).ok());
  EXPECT_TRUE(FindTarget("http://x.example:9000/", policy, Always({"10.20.0.1"})).ok());
  EXPECT_FALSE(FindTarget("http://x.example:9000/", policy, Always({"8.8.8.8"})).ok());
  EXPECT_TRUE(CheckWebhookUrl("http://localhost:9000/", Allow({"127.0.0.1"})).ok());
}

}  // namespace
}  // namespace stepscope
