#include "server/postgres/postgres_folder.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/server/postgres/embedded_fixture.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534, kUnnamed = 54321;

class OwnedFolder : public Embedded {
 protected:
  // The error for a user who is not root and does not own the folder.
  std::string RefusalOfNobody() {
    int tell[2];
    EXPECT_EQ(pipe(tell), 0);
    const pid_t child = fork();
    if (child == 0) {
      const bool changed =
          setresgid(kNobody, kNobody, kNobody) == 0 && setresuid(kNobody, kNobody, kNobody) == 0;
      const auto opened = PostgresFolder::Open(folder_.string(), "");
      const std::string said = opened ? "it was opened" : opened.error().message;
      _exit(changed && write(tell[1], said.data(), said.size()) > 0 ? 0 : 1);
    }
    close(tell[1]);
    char said[1'000] = {};
    EXPECT_GT(read(tell[0], said, sizeof said - 1), 0);
    close(tell[0]);
    waitpid(child, nullptr, 0);
    return said;
  }
};

TEST_F(OwnedFolder, OfSomebodyElseIsRefusedByPath) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  const std::string refusal =
      Format("data folder: {}/postgres.lock: Permission denied", folder_.string());
  EXPECT_EQ(RefusalOfNobody(), refusal);
  fs::permissions(folder_, fs::perms(0755));
  EXPECT_EQ(RefusalOfNobody(), refusal);
}

// Root gives the server to the owner of the cluster, but here the owner has no name.
TEST_F(OwnedFolder, ClusterThatTheServerMayNotReadIsSaidAndLeftAsItIs) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_TRUE(Start());
  postgres_.reset();
  struct stat owner {};
  ASSERT_EQ(stat(cluster().c_str(), &owner), 0);
  ASSERT_EQ(chown(cluster().c_str(), kUnnamed, kUnnamed), 0);
  const Status started = Start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, Code::kUnavailable);
  EXPECT_NE(started.error().message.find(cluster()), std::string::npos) << started.error().message;
  EXPECT_NE(started.error().message.find("Permission denied"), std::string::npos)
      << started.error().message;
  ASSERT_EQ(chown(cluster().c_str(), owner.st_uid, owner.st_gid), 0);
  EXPECT_TRUE(Start());
}

TEST_F(OwnedFolder, PathTooLongForASocketIsRefusedByItsLength) {
  const auto opened = PostgresFolder::Open((folder_ / std::string(90, 'x')).string(), "");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::kInvalid);
  EXPECT_NE(opened.error().message.find("longer than 83 bytes, too long for a unix socket"),
            std::string::npos)
      << opened.error().message;
}

}  // namespace
}  // namespace stepscope
