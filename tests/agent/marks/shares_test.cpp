#include "agent/marks/shares.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

constexpr std::uint32_t kOwn = 0;

// Gives the user all that there is.
std::size_t TakeAll(Shares& shares, std::uint32_t user) {
  const std::size_t taken = shares.Room(user);
  shares.Add(user, taken);
  return taken;
}

TEST(Shares, TwoUsersLeaveRoomForAThirdAndForTheAgentsOwn) {
  Shares shares(1024, kOwn);
  EXPECT_EQ(TakeAll(shares, 1), 448u);
  EXPECT_EQ(TakeAll(shares, 2), 224u);
  EXPECT_EQ(TakeAll(shares, 3), 112u);
  EXPECT_EQ(shares.Most(kOwn), 240u);
}

TEST(Shares, TheReserveIsKeptFromAnyNumberOfUsers) {
  Shares shares(1024, kOwn);
  for (std::uint32_t user = 1; user < 100; ++user) TakeAll(shares, user);
  EXPECT_EQ(shares.all(), 896u);
  EXPECT_EQ(TakeAll(shares, kOwn), 128u);
  EXPECT_FALSE(shares.HasRoom(kOwn, 1));
}

TEST(Shares, TheAgentsOwnUserAloneMayHaveAll) {
  Shares shares(1024, kOwn);
  EXPECT_EQ(TakeAll(shares, kOwn), 1024u);
  EXPECT_EQ(shares.Most(1), 0u);
}

}  // namespace
}  // namespace stepscope
