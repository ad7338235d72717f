#include "server/app/settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "server/app/options.h"

namespace stepscope {
namespace {

Result<Settings> Read(std::vector<const char*> args) {
  args.insert(args.end(), {"--data-dir", "/data"});
  const Result<Arguments> arguments = ParseServerArguments(args);
  return arguments ? ReadSettings(*arguments) : Result<Settings>(arguments.error());
}

std::string ErrorOf(std::vector<const char*> args) {
  const Result<Settings> settings = Read(std::move(args));
  return settings ? "" : settings.error().message;
}

TEST(Settings, DefaultsAreLoopbackAndEmbedded) {
  const Settings settings = *Read({});
  ASSERT_EQ(settings.listen.size(), 1u);
  EXPECT_EQ(settings.listen[0].text(), "127.0.0.1:8080");
  EXPECT_FALSE(settings.tls());
  EXPECT_FALSE(settings.demands_tokens());
  EXPECT_EQ(settings.database_url, "");
  EXPECT_EQ(settings.evaluators, 2);
}

TEST(Settings, KeepsABallastUnlessNoneIsWanted) {
  EXPECT_EQ(Read({})->ballast_bytes, 256'000'000);
  EXPECT_EQ(Read({"--ballast", "0"})->ballast_bytes, 0);
  EXPECT_EQ(Read({"--ballast", "1GB"})->ballast_bytes, 1'000'000'000);
  EXPECT_NE(ErrorOf({"--ballast", "some"}).find("--ballast"), std::string::npos);
}

TEST(Settings, ListensOnSeveralAddressesOfAllKinds) {
  const Settings settings = *Read({"--listen", "[::1]:0, localhost:9000,unix:/run/steps"});
  ASSERT_EQ(settings.listen.size(), 3u);
  EXPECT_EQ(settings.listen[0].host, "::1");
  EXPECT_EQ(settings.listen[1].port, 9000);
  EXPECT_EQ(settings.listen[2].path, "/run/steps");
  for (const char* text : {"8080", "", ",", "127.0.0.1:1,x"}) {
    EXPECT_NE(ErrorOf({"--listen", text}).find("--listen"), std::string::npos) << text;
  }
}

TEST(Settings, OpenAddressesWantTlsOrTheOptionThatSaysOtherwise) {
  for (const char* text :
       {"0.0.0.0:8080", "[::]:1", "127.0.0.1.example.com:1", "127.0.0.1:1,10.0.0.1:1"}) {
    EXPECT_NE(ErrorOf({"--listen", text}).find("--insecure-http"), std::string::npos) << text;
  }
  EXPECT_TRUE(Read({"--listen", "0.0.0.0:8080", "--insecure-http"}).ok());
  EXPECT_TRUE(Read({"--listen", "0.0.0.0:1", "--tls-cert", "c", "--tls-key", "k"}).ok());
}

TEST(Settings, TokensAreDemandedWhereOthersReachTheService) {
  EXPECT_TRUE(Read({"--listen", "0.0.0.0:1", "--insecure-http"})->demands_tokens());
  EXPECT_TRUE(Read({"--listen", "127.0.0.1:1,10.0.0.1:1", "--insecure-http"})->demands_tokens());
  EXPECT_TRUE(Read({"--require-tokens"})->demands_tokens());
  EXPECT_FALSE(Read({"--listen", "127.0.0.1:1,unix:/a", "--insecure-http"})->demands_tokens());
}

TEST(Settings, WhatBelongsTogetherIsWantedTogether) {
  EXPECT_NE(ErrorOf({"--tls-cert", "c"}), "");
  EXPECT_NE(ErrorOf({"--client-ca", "ca"}), "");
  EXPECT_NE(ErrorOf({"--tls-cert", "c", "--tls-key", "k", "--require-client-cert"}), "");
  EXPECT_NE(ErrorOf({"--trusted-proxy", "10.0.0.0/8"}), "");
  EXPECT_EQ(ErrorOf({"--trusted-proxy", "10.0.0.0/8", "--proxy-secret-file", "s"}), "");
}

TEST(Settings, KeepSizeIsASizeWithItsUnit) {
  EXPECT_EQ(Read({})->keep_bytes, 0);
  EXPECT_EQ(Read({"--keep-size", "0"})->keep_bytes, 0);
  EXPECT_EQ(Read({"--keep-size", "500MB"})->keep_bytes, 500'000'000);
  EXPECT_EQ(Read({"--keep-size", "2TB"})->keep_bytes, 2'000'000'000'000);
  for (const char* text : {"", "200", "0GB", "-1GB", "GB", "1.5GB", "2 GB", "9999999TB", "1gb"}) {
    EXPECT_NE(ErrorOf({"--keep-size", text}).find("500MB"), std::string::npos) << text;
  }
}

TEST(Settings, WrongValuesNameTheirOption) {
  EXPECT_NE(ErrorOf({"--evaluators", "17"}).find("--evaluators"), std::string::npos);
  EXPECT_NE(ErrorOf({"--evaluation-interval", "5ms"}).find("from 100 ms to 5 min"),
            std::string::npos);
  EXPECT_NE(ErrorOf({"--evaluation-lease", "30"}).find("from 1 s to 10 min"), std::string::npos);
  EXPECT_NE(ErrorOf({"--evaluators", "many"}).find("--evaluators"), std::string::npos);
  EXPECT_NE(ErrorOf({"--database-wait", "2h"}).find("--database-wait"), std::string::npos);
  EXPECT_NE(ErrorOf({"--database-wait", "soon"}).find("--database-wait"), std::string::npos);
  EXPECT_NE(ErrorOf({"--public-url", "example.com"}).find("--public-url"), std::string::npos);
  EXPECT_NE(ErrorOf({"--log-level", "loud"}), "");
  EXPECT_NE(ErrorOf({"--colour"}).find("--colour"), std::string::npos);
}

TEST(Settings, OptionsAreTakenByTheirNamesOfTheReleaseBefore) {
  const Settings before = *Read({"--evaluation-slot", "3s", "--compact-look=1m"});
  EXPECT_EQ(before.evaluation_interval, 3s);
  EXPECT_EQ(before.compaction_interval, 1min);
  ASSERT_EQ(before.warnings.size(), 2u);
  EXPECT_NE(before.warnings[0].find("--evaluation-interval"), std::string::npos);
  EXPECT_NE(before.warnings[1].find("--compaction-interval"), std::string::npos);
  EXPECT_EQ(OptionsHelp(ServerOptions()).find("--compact-look"), std::string::npos);
  EXPECT_TRUE(Read({"--compaction-interval", "1m"})->warnings.empty());
}

TEST(Settings, BothNamesOfOneOptionAreAnErrorThatNamesBoth) {
  const std::string error = ErrorOf({"--compaction-interval", "1m", "--compact-look", "1m"});
  EXPECT_NE(error.find("--compact-look"), std::string::npos) << error;
  EXPECT_NE(error.find("--compaction-interval"), std::string::npos) << error;
  EXPECT_NE(ErrorOf({"--compact-look", "5ms"}).find("--compact-look 5ms"), std::string::npos);
}

TEST(Settings, TheDatabaseMayComeFromTheEnvironment) {
  setenv("STEPSCOPE_DATABASE_URL", "postgresql://from/environment", 1);
  EXPECT_EQ(Read({})->database_url, "postgresql://from/environment");
  EXPECT_EQ(Read({"--database-url", "postgresql://given/"})->database_url, "postgresql://given/");
  unsetenv("STEPSCOPE_DATABASE_URL");
}

TEST(Settings, AnswersToItsOwnNames) {
  const std::vector<std::string> hosts =
      HostsOf(*Read({"--public-url", "https://steps.example.com/", "--host", "train-7, steps"}));
  for (const char* name : {"localhost", "127.0.0.1", "train-7", "steps", "steps.example.com"}) {
    EXPECT_EQ(std::ranges::count(hosts, name), 1) << name;
  }
}

TEST(ServiceUrl, IsWhatABrowserTakes) {
  EXPECT_EQ(ServiceUrl(*Read({}), 80), "http://127.0.0.1:80");
  EXPECT_EQ(ServiceUrl(*Read({"--listen", "unix:/a,[::1]:0"}), 8080), "http://[::1]:8080");
  EXPECT_EQ(ServiceUrl(*Read({"--tls-cert", "c", "--tls-key", "k"}), 1), "https://127.0.0.1:1");
  EXPECT_EQ(ServiceUrl(*Read({"--public-url", "https://steps.example/"}), 1),
            "https://steps.example");
}

}  // namespace
}  // namespace stepscope
