#include "server/edge/address.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(ListenAddress, ReadsWhatItWrites) {
  for (const char* text : {"127.0.0.1:8080", "[::1]:0", "localhost:65535", "[::]:443",
                           "unix:/run/stepscope.sock", "train-7.example:80"}) {
    const Result<ListenAddress> address = ParseListenAddress(text);
    ASSERT_TRUE(address.ok()) << text;
    EXPECT_EQ(address->text(), text);
  }
}

TEST(ListenAddress, RefusesWhatCannotBeListenedOn) {
  for (const char* text : {"", ":", "8080", ":8080", "host:", "host:x", "host:65536", "host:-1",
                           "::1:80", "[]:80", "unix:", "unix:relative"}) {
    EXPECT_FALSE(ParseListenAddress(text).ok()) << text;
  }
  EXPECT_FALSE(ParseListenAddress("unix:/" + std::string(200, 'a')).ok());
}

TEST(ListenAddress, KnowsWhatOnlyThisMachineReaches) {
  for (const char* text : {"127.0.0.1:1", "127.8.9.1:1", "[::1]:1", "localhost:1", "unix:/a"}) {
    EXPECT_TRUE(ParseListenAddress(text)->local()) << text;
  }
  for (const char* text : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "127.example:1", "[::2]:1"}) {
    EXPECT_FALSE(ParseListenAddress(text)->local()) << text;
  }
}

}  // namespace
}  // namespace stepscope
