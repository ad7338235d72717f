#include "core/http/tls_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "core/base/descriptor.h"

namespace stepscope {
namespace {

struct TlsSocketTest : testing::Test {
  TlsSocketTest() {
    int pair[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
    ours = Descriptor(pair[0]);
    other = Descriptor(pair[1]);
    socket.descriptor = ours.get();
    bio.reset(MakeTlsSocketBio(method.get(), socket));
  }
  struct FreeBio {
    void operator()(BIO* freed) const { BIO_free(freed); }
  };

  Descriptor ours, other;
  TlsSocket socket{.deadline = SteadyTime::max()};
  BioMethod method = MakeTlsSocketMethod();
  std::unique_ptr<BIO, FreeBio> bio;
  char bytes[8] = {};
};

TEST_F(TlsSocketTest, GivesNothingPastItsDeadlineHoweverMuchThereIs) {
  ASSERT_EQ(send(other.get(), "abc", 3, 0), 3);
  socket.deadline = SteadyTime::min();
  EXPECT_EQ(BIO_read(bio.get(), bytes, 1), -1);
  EXPECT_TRUE(BIO_should_read(bio.get()));
  socket.deadline = SteadyTime::max();
  EXPECT_EQ(BIO_read(bio.get(), bytes, 8), 3);
}

TEST_F(TlsSocketTest, TellsNothingYetFromTheEnd) {
  EXPECT_EQ(BIO_read(bio.get(), bytes, 8), -1);
  EXPECT_TRUE(BIO_should_read(bio.get()));
  EXPECT_FALSE(BIO_eof(bio.get()));
  other = Descriptor();
  EXPECT_EQ(BIO_read(bio.get(), bytes, 8), 0);
  EXPECT_FALSE(BIO_should_retry(bio.get()));
  EXPECT_TRUE(BIO_eof(bio.get()));
}

TEST_F(TlsSocketTest, RaisesNoSignalWhenNobodyReads) {
  other = Descriptor();
  EXPECT_EQ(BIO_write(bio.get(), "abc", 3), -1);
  EXPECT_FALSE(BIO_should_retry(bio.get()));
}

TEST_F(TlsSocketTest, WaitsForRoomWhenNobodyReadsYet) {
  const std::string much(1 << 20, 'x');
  int count;
  while ((count = BIO_write(bio.get(), much.data(), static_cast<int>(much.size()))) > 0) {
  }
  EXPECT_EQ(count, -1);
  EXPECT_TRUE(BIO_should_write(bio.get()));
}

}  // namespace
}  // namespace stepscope
