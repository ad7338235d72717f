// The whole program against a service with TLS and tokens.

#include <gtest/gtest.h>

#include <atomic>

#include "core/base/text.h"
#include "tests/support/agent_process.h"
#include "tests/support/fake_ingest.h"
#include "tests/support/fake_root.h"
#include "tests/support/identity.h"

namespace stepscope {
namespace {

using test::AgentProcess;
using TlsWords = std::vector<std::string>;

struct RunTlsTest : testing::Test {
  RunTlsTest() {
    identity.Save(File("ca.crt"));
    service.Demand("good-token");
  }
  ~RunTlsTest() override { unsetenv("STEPSCOPE_TOKEN"); }

  std::string File(const std::string& name) const { return folder.path() + "/" + name; }
  void WriteToken(const std::string& token) const {
    folder.Write("/token", token + "\n");
    chmod(File("token").c_str(), 0600);
  }
  TlsWords Run(const std::string& script, TlsWords options = {}) const {
    TlsWords words = {"run",    "--server", service.url(), "--job",     "job-1",
                      "--push", "1s",       "--interval",  "100ms",     "--node",
                      "node-1", "--socket", File("sock"),  "--ca-file", File("ca.crt")};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "/bin/sh", "-c", script});
    return words;
  }

  // A command that ends when the test says so.
  std::string UntilGo() const {
    return Format("until test -e {}; do sleep 0.02; done; exit 5", File("go"));
  }

  test::FakeRoot folder;
  test::Identity identity{"right.test"};
  test::TlsContext context = test::ServerContext(identity);
  test::FakeIngest service{context.get()};
};

TEST_F(RunTlsTest, DeliversWithTheTokenOfItsFile) {
  WriteToken("good-token");
  AgentProcess agent(Run("exit 3", {"--token-file", File("token")}));
  EXPECT_EQ(agent.Wait(), 3);
  EXPECT_EQ(service.Events(R"("event":"ended")").size(), 1u);
  EXPECT_EQ(service.connections(), 2);  // for the name, and for the pushes
}

TEST_F(RunTlsTest, KeepsEverythingUntilItsTokenFileIsReplaced) {
  WriteToken("old-token");
  AgentProcess agent(Run(UntilGo(), {"--token-file", File("token")}));
  ASSERT_TRUE(agent.WaitForErr("the token is not valid"));
  EXPECT_TRUE(service.frames().empty());
  WriteToken("good-token");
  ASSERT_TRUE(agent.WaitForErr("the service takes samples again"));
  folder.Write("/go", "");
  EXPECT_EQ(agent.Wait(), 5);
  const auto frames = service.frames();
  ASSERT_FALSE(frames.empty());
  for (std::size_t i = 0; i < frames.size(); ++i) EXPECT_EQ(frames[i].head.sequence, i + 1);
  EXPECT_EQ(service.Events(R"("event":"started")").size(), 1u);
  EXPECT_EQ(service.Events(R"("event":"ended")").size(), 1u);
  EXPECT_EQ(agent.err().find("old-token"), std::string::npos);
  EXPECT_EQ(agent.err().find("good-token"), std::string::npos);
}

TEST_F(RunTlsTest, HidesTheTokenOfItsEnvironmentFromTheCommand) {
  setenv("STEPSCOPE_TOKEN", "good-token", 1);
  AgentProcess agent(Run("env; tr '\\0' ' ' < /proc/$PPID/cmdline; exit 3"));
  EXPECT_EQ(agent.Wait(), 3);
  agent.WaitForEnd();
  EXPECT_EQ(service.Events(R"("event":"ended")").size(), 1u);
  EXPECT_NE(agent.out().find("STEPSCOPE_JOB=job-1"), std::string::npos);
  EXPECT_NE(agent.out().find("--ca-file"), std::string::npos);
  EXPECT_EQ(agent.out().find("good-token"), std::string::npos);
  EXPECT_EQ(agent.err().find("good-token"), std::string::npos);
}

TEST_F(RunTlsTest, SaysThatOthersMayReadItsToken) {
  WriteToken("good-token");
  chmod(File("token").c_str(), 0644);
  AgentProcess agent(Run("exit 0", {"--token-file", File("token")}));
  EXPECT_EQ(agent.Wait(), 0);
  EXPECT_TRUE(agent.WaitForErr("every user of this machine may read"));
}

TEST_F(RunTlsTest, RunsTheCommandWhenItDoesNotTrustTheService) {
  test::Identity("right.test").Save(File("ca.crt"));
  WriteToken("good-token");
  AgentProcess agent(Run(UntilGo(), {"--token-file", File("token")}));
  ASSERT_TRUE(agent.WaitForErr("is not trusted"));
  EXPECT_TRUE(agent.WaitForErr(Format("it is not signed by the CA in '{}'", File("ca.crt"))));
  EXPECT_TRUE(service.frames().empty());
  folder.Write("/go", "");
}

}  // namespace
}  // namespace stepscope
