#include "server/app/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace stepscope {
namespace {

Result<Settings> Read(std::vector<const char*> args) {
  args.insert(args.end(), {"--data-dir", "/data"});
  const Result<Arguments> arguments = ParseArguments(ServerOptions(), args);
  return arguments ? ReadSettings(*arguments) : Result<Settings>(arguments.error());
}

std::string ErrorOf(std::vector<const char*> args) {
  const Result<Settings> settings = Read(std::move(args));
  return settings ? "" : settings.error().message;
}

TEST(Settings, DefaultsAreLoopbackAndEmbedded) {
  const Settings settings = *Read({});
  EXPECT_EQ(settings.host, "127.0.0.1");
  EXPECT_EQ(settings.port, 8080);
  EXPECT_EQ(settings.database_url, "");
  EXPECT_EQ(settings.evaluators, 2);
}

TEST(Settings, ListenTakesNamesAndBothKindsOfAddresses) {
  EXPECT_EQ(Read({"--listen", "[::1]:0"})->host, "::1");
  EXPECT_EQ(Read({"--listen", "localhost:9000"})->port, 9000);
  EXPECT_EQ(Read({"--listen", "127.0.0.2:1"})->host, "127.0.0.2");
  for (const char* text : {"8080", ":8080", "host:", "host:x", "host:65536", "host:-1", "[]:1"}) {
    EXPECT_NE(ErrorOf({"--listen", text}).find("--listen"), std::string::npos) << text;
  }
}

TEST(Settings, OpenAddressesNeedTheOptionThatSaysSo) {
  EXPECT_NE(ErrorOf({"--listen", "0.0.0.0:8080"}).find("--insecure-open"), std::string::npos);
  EXPECT_NE(ErrorOf({"--listen", "[::]:8080"}).find("--insecure-open"), std::string::npos);
  EXPECT_NE(ErrorOf({"--listen", "127.0.0.1.example.com:8080"}).find("--insecure-open"),
            std::string::npos);
  EXPECT_TRUE(Read({"--listen", "0.0.0.0:8080", "--insecure-open"}).ok());
}

TEST(Settings, WrongValuesNameTheirOption) {
  EXPECT_NE(ErrorOf({"--evaluators", "0"}).find("--evaluators"), std::string::npos);
  EXPECT_NE(ErrorOf({"--evaluators", "many"}).find("--evaluators"), std::string::npos);
  EXPECT_NE(ErrorOf({"--public-url", "example.com"}).find("--public-url"), std::string::npos);
  EXPECT_NE(ErrorOf({"--log-level", "loud"}), "");
  EXPECT_NE(ErrorOf({"--colour"}).find("--colour"), std::string::npos);
}

TEST(Settings, TheDatabaseMayComeFromTheEnvironment) {
  setenv("STEPSCOPE_DATABASE_URL", "postgresql://from/environment", 1);
  EXPECT_EQ(Read({})->database_url, "postgresql://from/environment");
  EXPECT_EQ(Read({"--database-url", "postgresql://given/"})->database_url, "postgresql://given/");
  unsetenv("STEPSCOPE_DATABASE_URL");
}

TEST(Settings, OnLoopbackOnlyItsOwnNamesAreAnswered) {
  const Settings settings = *Read({"--public-url", "https://steps.example.com/"});
  EXPECT_EQ(settings.public_url, "https://steps.example.com");
  EXPECT_EQ(HostsOf(settings), (std::vector<std::string>{"localhost", "127.0.0.1", "[::1]",
                                                         "127.0.0.1", "steps.example.com"}));
  EXPECT_TRUE(HostsOf(*Read({"--listen", "0.0.0.0:1", "--insecure-open"})).empty());
}

TEST(HttpUrl, IsWhatABrowserTakes) {
  EXPECT_EQ(HttpUrl("127.0.0.1", 80), "http://127.0.0.1:80");
  EXPECT_EQ(HttpUrl("::1", 8080), "http://[::1]:8080");
  EXPECT_EQ(HttpUrl("0.0.0.0", 8080), "http://127.0.0.1:8080");
}

}  // namespace
}  // namespace stepscope
