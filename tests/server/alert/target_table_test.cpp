// URLs that somebody might register to make the service talk to its own network.

#include <gtest/gtest.h>

#include <map>

#include "server/alert/address_policy.h"

namespace stepscope {
namespace {

using TargetAddresses = std::vector<std::string>;
using namespace std::string_literals;

enum Verdict {
  kGood,
  kNotTaken,      // refused when it is registered; no resolver is asked
  kNotConnected,  // refused when its name was looked up
};

struct Row {
  std::string url;
  Verdict verdict;
};

const std::map<std::string, TargetAddresses> kNames = {
    {"hooks.example.com", {"8.8.8.8", "2606:4700::1111"}},
    {"xn--bcher-kva.example", {"8.8.4.4"}},
    {"1.2.3.4.example", {"8.8.4.4"}},
    {"localhost.example", {"127.0.0.1"}},
    {"localhost.localdomain", {"127.0.0.1"}},
    {"ip6-localhost", {"::1"}},
    {"db", {"10.0.0.5"}},
    {"metadata.google.internal", {"169.254.169.254"}},
    {"127.0.0.1.nip.example", {"127.0.0.1"}},
    {"mixed.example", {"8.8.8.8", "192.168.0.1"}},
    {"mixed6.example", {"8.8.8.8", "fd00::1"}},
    {"mapped.example", {"::ffff:10.0.0.1"}},
    {"translated.example", {"64:ff9b::a9fe:a9fe"}},
    {"zero.example", {"0.0.0.0"}},
    {"scoped.example", {"fe80::1%2"}},
    {"odd.example", {"0x7f.1"}},
};

const Row kTable[] = {
    {"https://hooks.example.com/", kGood},
    {"http://hooks.example.com/x?y=1&z=%2e%2e", kGood},
    {"https://hooks.example.com:443/", kGood},
    {"https://hooks.example.com:8443/", kGood},
    {"http://hooks.example.com:8080/", kGood},
    {"HTTPS://HOOKS.EXAMPLE.COM/", kGood},
    {"https://xn--bcher-kva.example/", kGood},
    {"https://1.2.3.4.example/", kGood},
    {"https://8.8.8.8/", kGood},
    {"https://[2606:4700::1111]/", kGood},
    {"https://[::ffff:8.8.8.8]/", kGood},
    // TargetAddresses of our own.
    {"http://127.0.0.1/", kNotTaken},
    {"http://127.255.255.254/", kNotTaken},
    {"http://0.0.0.0/", kNotTaken},
    {"http://0.1.2.3/", kNotTaken},
    {"http://10.0.0.1/", kNotTaken},
    {"http://100.64.0.1/", kNotTaken},
    {"http://100.100.100.200/latest/meta-data/", kNotTaken},
    {"http://169.254.169.254/latest/meta-data/", kNotTaken},
    {"http://169.254.170.2/v2/credentials", kNotTaken},
    {"http://172.16.0.1/", kNotTaken},
    {"http://172.31.255.255/", kNotTaken},
    {"http://192.0.0.192/", kNotTaken},
    {"http://192.168.1.1/", kNotTaken},
    {"http://198.18.0.1/", kNotTaken},
    {"http://203.0.113.9/", kNotTaken},
    {"http://224.0.0.1/", kNotTaken},
    {"http://255.255.255.255/", kNotTaken},
    // These ranges in IPv6.
    {"http://[::1]/", kNotTaken},
    {"http://[0:0:0:0:0:0:0:1]/", kNotTaken},
    {"http://[::]/", kNotTaken},
    {"http://[::127.0.0.1]/", kNotTaken},
    {"http://[::ffff:127.0.0.1]/", kNotTaken},
    {"http://[::ffff:7f00:1]/", kNotTaken},
    {"http://[::ffff:a9fe:a9fe]/", kNotTaken},
    {"http://[0:0:0:0:0:ffff:10.0.0.1]/", kNotTaken},
    {"http://[::ffff:0:127.0.0.1]/", kNotTaken},
    {"http://[64:ff9b::127.0.0.1]/", kNotTaken},
    {"http://[64:ff9b:1::10.0.0.1]/", kNotTaken},
    {"http://[2002:7f00:1::]/", kNotTaken},
    {"http://[2001:0:808:808::1]/", kNotTaken},
    {"http://[fc00::1]/", kNotTaken},
    {"http://[fd00:ec2::254]/", kNotTaken},
    {"http://[fe80::1]/", kNotTaken},
    {"http://[fe80::1%25eth0]/", kNotTaken},
    {"http://[fec0::1]/", kNotTaken},
    {"http://[ff02::1]/", kNotTaken},
    // Numbers that only some read as addresses.
    {"http://2130706433/", kNotTaken},
    {"http://0x7f000001/", kNotTaken},
    {"http://0x7f.0.0.1/", kNotTaken},
    {"http://0x7f.1/", kNotTaken},
    {"http://017700000001/", kNotTaken},
    {"http://0177.0.0.1/", kNotTaken},
    {"http://127.1/", kNotTaken},
    {"http://127.0.1/", kNotTaken},
    {"http://10.0x0.0.1/", kNotTaken},
    {"http://8.8.8.0x8/", kNotTaken},
    {"http://8.8.8.8.8/", kNotTaken},
    {"http://256.8.8.8/", kNotTaken},
    {"http://0/", kNotTaken},
    {"http://127.0.0.1./", kNotTaken},
    {"http://\xe2\x91\xa0\xe2\x91\xa1\xe2\x91\xa6.0.0.1/", kNotTaken},  // circled digits
    // Names.
    {"http://localhost/", kNotTaken},
    {"http://LOCALHOST/", kNotTaken},
    {"http://a.localhost/", kNotTaken},
    {"http://localhost./", kNotTaken},
    {"http://hooks.example.com./", kNotTaken},
    {"http://hooks..example.com/", kNotTaken},
    {"https://b\xc3\xbc"
     "cher.example/",
     kNotTaken},
    {"http://localhost%00.example.com/", kNotTaken},
    {"http://%6c%6f%63%61%6c/", kNotTaken},
    {"http://localhost.example/", kNotConnected},
    {"http://localhost.localdomain/", kNotConnected},
    {"http://ip6-localhost/", kNotConnected},
    {"http://db/", kNotConnected},
    {"http://metadata.google.internal/computeMetadata/v1/", kNotConnected},
    {"http://127.0.0.1.nip.example/", kNotConnected},
    {"https://mixed.example/", kNotConnected},
    {"https://mixed6.example/", kNotConnected},
    {"https://mapped.example/", kNotConnected},
    {"https://translated.example/", kNotConnected},
    {"https://zero.example/", kNotConnected},
    {"https://scoped.example/", kNotConnected},
    {"https://odd.example/", kNotConnected},
    // Ports and schemes.
    {"http://hooks.example.com:22/", kNotTaken},
    {"http://hooks.example.com:25/", kNotTaken},
    {"http://hooks.example.com:5432/", kNotTaken},
    {"http://hooks.example.com:0/", kNotTaken},
    {"http://hooks.example.com:65616/", kNotTaken},  // 80 in sixteen bits
    {"http://hooks.example.com:80:22/", kNotTaken},
    {"http://hooks.example.com:/", kNotTaken},
    {"ftp://hooks.example.com/", kNotTaken},
    {"file:///etc/passwd", kNotTaken},
    {"gopher://hooks.example.com:80/_x", kNotTaken},
    {"unix:///var/run/docker.sock", kNotTaken},
    {"javascript:alert(1)", kNotTaken},
    {"//hooks.example.com/", kNotTaken},
    {"hooks.example.com", kNotTaken},
    {"https:/hooks.example.com/", kNotTaken},
    {"https://", kNotTaken},
    {"https:///etc", kNotTaken},
    {"", kNotTaken},
    // URLs that programs read in different ways.
    {"https://user:pw@hooks.example.com/", kNotTaken},
    {"https://hooks.example.com@127.0.0.1/", kNotTaken},
    {"https://hooks.example.com:80@127.0.0.1/", kNotTaken},
    {"https://hooks.example.com\\@127.0.0.1/", kNotTaken},
    {"https://127.0.0.1\\.hooks.example.com/", kNotTaken},
    {"https://hooks.example.com#@127.0.0.1/", kNotTaken},
    {"https://127.0.0.1#.hooks.example.com/", kNotTaken},
    {"https://hooks.example.com /", kNotTaken},
    {" https://hooks.example.com/", kNotTaken},
    {"https://hooks.example.com/\r\nHost: 127.0.0.1", kNotTaken},
    {"https://hooks.example.com\n.example/", kNotTaken},
    {"https://hooks.example.com\t/", kNotTaken},
    {"https://hooks.example.com\0.example/"s, kNotTaken},
    {"https://hooks.example.com/\0"s, kNotTaken},
    {"https://[::1]hooks.example.com/", kNotTaken},
    {"https://[::1/", kNotTaken},
    {"https://[hooks.example.com]/", kNotTaken},
    {"https://" + std::string(254, 'a') + "/", kNotTaken},
    {"https://hooks.example.com/" + std::string(2048, 'a'), kNotTaken},
};

TEST(WebhookUrls, HaveTheVerdictOfTheTable) {
  for (const auto& [url, verdict] : kTable) {
    int asked = 0;
    const auto resolve = [&](const std::string& host) -> Result<TargetAddresses> {
      ++asked;
      const auto found = kNames.find(host);
      EXPECT_NE(found, kNames.end()) << host;
      return found == kNames.end() ? Result<TargetAddresses>(Unavailable("no such name"))
                                   : found->second;
    };
    EXPECT_EQ(CheckWebhookUrl(url, {}).ok(), verdict != kNotTaken) << url;
    const auto target = FindTarget(url, {}, resolve);
    EXPECT_EQ(target.ok(), verdict == kGood) << url;
    EXPECT_TRUE(target.ok() || target.error().code == Code::kInvalid) << url;
    EXPECT_TRUE(verdict != kNotTaken || asked == 0) << url;
  }
}

}  // namespace
}  // namespace stepscope
