#include "server/edge/listener.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "core/base/text.h"
#include "tests/support/fake_root.h"
#include "tests/support/raw_client.h"

namespace stepscope {
namespace {

class ListenerTest : public testing::Test {
 protected:
  // Why nobody can listen there; "" when somebody can.
  static std::string WhyNot(const ListenAddress& address) {
    const Result<Listener> listener = Listener::Open(address);
    return listener ? "" : listener.error().message;
  }

  const test::FakeRoot folder_;
  const ListenAddress file_{.path = folder_.path() + "/http.sock"};
};

TEST_F(ListenerTest, ATakenPortIsOneClearSentence) {
  const Result<Listener> first = Listener::Open({.host = "127.0.0.1"});
  ASSERT_TRUE(first.ok());
  EXPECT_GT(first->port(), 0);
  EXPECT_EQ(WhyNot({.host = "127.0.0.1", .port = first->port()}),
            Format("127.0.0.1:{} is in use by another program; stop it or choose another with "
                   "--listen",
                   first->port()));
}

TEST_F(ListenerTest, AnAddressOfAnotherMachineIsNamed) {
  EXPECT_NE(WhyNot({.host = "192.0.2.1"}).find("cannot listen on 192.0.2.1:0"), std::string::npos);
  EXPECT_NE(WhyNot({.host = "not a name"}).find("no such address"), std::string::npos);
}

TEST_F(ListenerTest, AUnixSocketIsForItsOwnerAndGroupAndGoesWithTheListener) {
  {
    const Result<Listener> listener = Listener::Open(file_);
    ASSERT_TRUE(listener.ok());
    struct stat found {};
    ASSERT_EQ(stat(file_.path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0660U);
    EXPECT_NE(WhyNot(file_).find("is in use"), std::string::npos);
    EXPECT_TRUE(std::filesystem::exists(file_.path)) << "the second one must not take it away";
  }
  EXPECT_FALSE(std::filesystem::exists(file_.path));
}

TEST_F(ListenerTest, ASocketThatADeadServerLeftIsReplaced) {
  const std::string kept = file_.path + ".kept";
  {
    const Result<Listener> dead = Listener::Open(file_);
    ASSERT_TRUE(dead.ok());
    std::filesystem::rename(file_.path, kept);
  }
  std::filesystem::rename(kept, file_.path);
  EXPECT_EQ(WhyNot(file_), "");
}

TEST_F(ListenerTest, AFileThatIsNoSocketIsLeftAlone) {
  folder_.Write("/http.sock", "a letter");
  EXPECT_NE(WhyNot(file_).find("is a file that is no socket"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(file_.path));
}

TEST_F(ListenerTest, SaysWhetherSomebodyWaits) {
  const Result<Listener> listener = Listener::Open({.host = "127.0.0.1"});
  ASSERT_TRUE(listener.ok());
  EXPECT_FALSE(listener->HasNext());
  EXPECT_EQ(listener->Accept().fault, EAGAIN);
  const RawClient client(listener->port());
  EXPECT_TRUE(listener->HasNext());
  EXPECT_EQ(listener->Accept().peer, "127.0.0.1");
}

}  // namespace
}  // namespace stepscope
