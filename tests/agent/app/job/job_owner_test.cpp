#include "agent/app/job/job_owner.h"

#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include "tests/support/eventually.h"

namespace stepscope {
namespace {

constexpr std::uint32_t kNobodyKnows = 3'999'999'999;

TEST(JobOwner, IsTheOwnerOfTheProcessesByName) {
  const passwd* user = getpwuid(geteuid());
  if (user == nullptr) GTEST_SKIP() << "this user has no name";
  const std::string name = user->pw_name;
  JobOwner owner(geteuid());
  // What the environment says may be anybody.
  owner.Learn([](std::string_view variable) {
    return std::string(variable == "SLURM_JOB_USER" ? "somebody" : "");
  });
  EXPECT_TRUE(Eventually([&] { return owner.User() == name; }));
}

TEST(JobOwner, IsWhomSlurmNamesWhereTheMachineDoesNotKnowTheUser) {
  JobOwner owner(kNobodyKnows);
  EXPECT_EQ(owner.User(), "uid 3999999999");
  owner.Learn([](std::string_view variable) {
    if (variable == "SLURM_JOB_USER") return std::string("ann\n\x1b[1m");
    return std::string(variable == "SLURM_JOB_ACCOUNT" ? "physics" : "");
  });
  EXPECT_TRUE(owner.User().starts_with("ann"));
  EXPECT_EQ(owner.User().find('\n'), std::string::npos);
  EXPECT_EQ(owner.account(), "physics");
}

}  // namespace
}  // namespace stepscope
