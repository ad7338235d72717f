#include "server/app/commands/tls_command.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <vector>

#include "core/base/text.h"
#include "server/app/commands/tls_agent_cert.h"
#include "server/app/commands/tls_self_signed.h"
#include "server/app/tls_files.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

const Time kTlsNow = std::chrono::system_clock::now();

struct TlsCommandTest : testing::Test {
  Result<std::string> SelfSigned(std::vector<const char*> more = {}) {
    more.insert(more.begin(), {"--out", out.c_str()});
    return MakeSelfSigned(more, kTlsNow);
  }
  Result<std::string> AgentCert(std::vector<const char*> more) {
    more.insert(more.begin(), {"--ca", out.c_str()});
    return MakeAgentCert(more, kTlsNow);
  }
  std::string File(const std::string& name) const {
    const auto text = ReadWhole(out + "/" + name);
    return text ? *text : "";
  }
  unsigned Mode(const std::string& name) const {
    struct stat status {};
    return stat((out + "/" + name).c_str(), &status) == 0 ? status.st_mode & 0777u : 0u;
  }
  std::size_t Files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(out),
                                                  std::filesystem::directory_iterator()));
  }

  test::FakeRoot root;
  std::string out = root.path() + "/new/tls";
};

TEST_F(TlsCommandTest, KeepsKeysForTheOwnerAlone) {
  const auto said = SelfSigned();
  ASSERT_TRUE(said.ok()) << said.error().message;
  EXPECT_EQ(Mode("ca.key"), 0600u);
  EXPECT_EQ(Mode("server.key"), 0600u);
  EXPECT_EQ(Mode("ca.crt"), 0644u);
  EXPECT_EQ(Mode("server.crt"), 0644u);
  EXPECT_EQ(Files(), 4u);
}

TEST_F(TlsCommandTest, SaysWhatToTypeNext) {
  const auto said = SelfSigned({"--host", "*.gpu.test,Scope.test"});
  ASSERT_TRUE(said.ok()) << said.error().message;
  EXPECT_NE(said->find(Format("--tls-cert {0}/server.crt --tls-key {0}/server.key", out)),
            std::string::npos);
  EXPECT_NE(said->find("--server https://scope.test:8443 --ca-file ca.crt"), std::string::npos);
  EXPECT_NE(said->find("for *.gpu.test, scope.test, localhost, 127.0.0.1, ::1, until "),
            std::string::npos)
      << *said;
}

TEST_F(TlsCommandTest, NeverReplacesAFileUnasked) {
  ASSERT_TRUE(SelfSigned().ok());
  const std::string before = File("server.key");
  const auto again = SelfSigned();
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, Code::kConflict);
  EXPECT_EQ(again.error().message, out + "/server.key exists; --force replaces it");
  EXPECT_EQ(File("server.key"), before);
  std::filesystem::remove(out + "/server.key");
  EXPECT_EQ(SelfSigned().error().message, out + "/server.crt exists; --force replaces it");
  EXPECT_FALSE(std::filesystem::exists(out + "/server.key"));
}

TEST_F(TlsCommandTest, RenewsTheServiceUnderTheSameAuthority) {
  ASSERT_TRUE(SelfSigned().ok());
  const std::string authority = File("ca.crt"), key = File("ca.key"), server = File("server.crt");
  ASSERT_TRUE(SelfSigned({"--force"}).ok());
  EXPECT_EQ(File("ca.crt"), authority);
  EXPECT_EQ(File("ca.key"), key);
  EXPECT_NE(File("server.crt"), server);
  EXPECT_EQ(Mode("server.key"), 0600u);
  EXPECT_EQ(Files(), 4u);
}

TEST_F(TlsCommandTest, DoesNotMakeASecondAuthorityWhereHalfOfOneIs) {
  ASSERT_TRUE(SelfSigned().ok());
  std::filesystem::remove(out + "/ca.key");
  const std::string authority = File("ca.crt");
  const auto again = SelfSigned({"--force"});
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().message.find("/ca.key"), std::string::npos);
  EXPECT_EQ(File("ca.crt"), authority);
}

TEST_F(TlsCommandTest, NamesTheOptionThatIsWrong) {
  const std::pair<std::vector<const char*>, const char*> wrong[] = {
      {{"--days", "0"}, "--days"},
      {{"--days", "9999"}, "--days"},
      {{"--days", "x"}, "--days"},
      {{"--host", "a b"}, "--host"},
      {{"--host", "a,,b"}, "--host"},
      {{"--host", "https://a"}, "--host"},
      {{"--host", "a:8443"}, "--host"},
      {{"--host", "*.1.2.3.4"}, "--host"},
      {{"--host", "user@a"}, "--host"},
      {{"--host", "a/b"}, "--host"},
      {{"--hosts", "a"}, "did you mean --host"}};
  for (const auto& [words, name] : wrong) {
    const auto said = SelfSigned(words);
    ASSERT_FALSE(said.ok()) << name;
    EXPECT_EQ(said.error().code, Code::kInvalid);
    EXPECT_NE(said.error().message.find(name), std::string::npos) << said.error().message;
  }
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(TlsCommandTest, MakesCertificatesForNodesWhateverTheirNames) {
  EXPECT_EQ(AgentCert({"--node", "n"}).error().code, Code::kNotFound);
  ASSERT_TRUE(SelfSigned().ok());
  ASSERT_TRUE(AgentCert({"--node", "node-1"}).ok());
  EXPECT_EQ(Mode("agent-node-1.key"), 0600u);
  EXPECT_EQ(Mode("agent-node-1.crt"), 0644u);
  ASSERT_TRUE(AgentCert({"--node", "../../rack 7"}).ok());
  EXPECT_EQ(Mode("agent-.._.._rack_7.key"), 0600u);
  EXPECT_EQ(AgentCert({"--node", "node-1"}).error().code, Code::kConflict);
  EXPECT_TRUE(AgentCert({"--node", "node-1", "--force"}).ok());
  EXPECT_EQ(AgentCert({"--node", std::string(64, 'n').c_str()}).error().code, Code::kInvalid);
  EXPECT_NE(AgentCert({}).error().message.find("--node"), std::string::npos);
}

TEST_F(TlsCommandTest, HelpsWithoutMakingAnything) {
  EXPECT_NE(SelfSigned({"--help"})->find("--host"), std::string::npos);
  EXPECT_NE(AgentCert({"--help"})->find("--node"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(WriteWhole, LeavesNothingBehindWhenItCannot) {
  const test::FakeRoot root;
  EXPECT_FALSE(WriteWhole({root.path() + "/no/such/folder", "x"}).ok());
  root.MakeFolder("/taken/inside");
  EXPECT_FALSE(WriteWhole({.path = root.path() + "/taken", .text = "x", .replace = true}).ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(root.path()),
                          std::filesystem::directory_iterator()),
            1);
}

TEST(WriteWhole, DoesNotFollowALinkToWriteThere) {
  const test::FakeRoot root;
  root.Write("/target", "old");
  std::filesystem::create_symlink(root.path() + "/target", root.path() + "/link");
  EXPECT_EQ(WriteWhole({root.path() + "/link", "new"}).error().code, Code::kConflict);
  EXPECT_TRUE(WriteWhole({.path = root.path() + "/link", .text = "new", .replace = true}).ok());
  EXPECT_EQ(*ReadWhole(root.path() + "/target"), "old");
  EXPECT_EQ(*ReadWhole(root.path() + "/link"), "new");
}

}  // namespace
}  // namespace stepscope
