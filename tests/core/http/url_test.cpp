#include "core/http/url.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(ParseUrl, TakesApartHostPortPathAndQuery) {
  const auto url = ParseUrl("HTTPS://Example.org:8443/a/b?x=1&y=%20");
  ASSERT_TRUE(url.ok());
  EXPECT_TRUE(url->secure);
  EXPECT_EQ(url->host, "example.org");
  EXPECT_EQ(url->port, 8443);
  EXPECT_EQ(url->target, "/a/b?x=1&y=%20");
  EXPECT_EQ(url->ToText(), "https://example.org:8443/a/b?x=1&y=%20");
}

TEST(ParseUrl, KnowsThePortOfEachScheme) {
  EXPECT_EQ(ParseUrl("http://h")->port, 80);
  EXPECT_EQ(ParseUrl("https://h")->port, 443);
  EXPECT_EQ(ParseUrl("http://h?q")->target, "/?q");
  EXPECT_EQ(ParseUrl("http://h:80")->Authority(), "h");
  EXPECT_EQ(ParseUrl("https://h:80")->Authority(), "h:80");
}

TEST(ParseUrl, KeepsIPv6InBrackets) {
  const auto url = ParseUrl("http://[::1]:8080/x");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->Authority(), "[::1]:8080");
}

TEST(ParseUrl, RefusesWhatOthersWouldReadDifferently) {
  const char* const bad[] = {
      "",
      "host:80",
      "//host",
      "ftp://host",
      "file:///etc/passwd",
      "http://",
      "http:///path",
      "http://user@host",
      "http://user:word@host",
      "http://good.org\\@evil.org",
      "http://host/#fragment",
      "http://ho st",
      "http://host/\r\nX: y",
      "http://h\xc3\xb6st",
      "http://host:",
      "http://host:0",
      "http://host:65536",
      "http://host:-1",
      "http://host:+80",
      "http://host:80x",
      "http://2130706433",
      "http://127.1",
      "http://0x7f000001",
      "http://1.2.3.0x4",
      "http://1.2.3.256",
      "http://[::1",
      "http://[nope]",
      "http://[::1]8080",
      "http://%31.org",
      "http://host.",
      "http://.host",
      "http://host..org",
      "http://127.0.0.1.",
  };
  for (const char* text : bad) {
    const auto url = ParseUrl(text);
    ASSERT_FALSE(url.ok()) << text;
    EXPECT_EQ(url.error().code, Code::kInvalid);
    EXPECT_NE(url.error().message.find("URL '"), std::string::npos);
  }
  EXPECT_FALSE(ParseUrl("http://h/" + std::string(3000, 'a')).ok());
  EXPECT_FALSE(ParseUrl("http://" + std::string(300, 'a')).ok());
}

TEST(IsLoopbackHost, IsTrueOfThisMachineAlone) {
  for (const char* host : {"localhost", "127.0.0.1", "127.9.9.9", "::1"}) {
    EXPECT_TRUE(IsLoopbackHost(host)) << host;
  }
  for (const char* host :
       {"127.evil.org", "localhost.evil.org", "10.0.0.1", "::2", "0.0.0.0", ""}) {
    EXPECT_FALSE(IsLoopbackHost(host)) << host;
  }
}

TEST(ParseUrl, NamesTheRuleThatIsBroken) {
  EXPECT_NE(ParseUrl("http://u:p@h").error().message.find("user name"), std::string::npos);
  EXPECT_NE(ParseUrl("http://h:99999").error().message.find("port"), std::string::npos);
  EXPECT_NE(ParseUrl("h:8080").error().message.find("http://"), std::string::npos);
}

}  // namespace
}  // namespace stepscope
