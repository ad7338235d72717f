#include "server/front/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace stepscope {
namespace {

TEST(Accepts, HonoursQualityAndTheStar) {
  EXPECT_TRUE(Accepts("gzip, deflate, br", "br"));
  EXPECT_TRUE(Accepts("gzip;q=0.5", "gzip"));
  EXPECT_TRUE(Accepts("*", "gzip"));
  EXPECT_FALSE(Accepts("gzip;q=0, *", "gzip"));
  EXPECT_FALSE(Accepts("gzip; q=0.000", "gzip"));
  EXPECT_FALSE(Accepts("", "gzip"));
  EXPECT_FALSE(Accepts("xgzip", "gzip"));
  EXPECT_FALSE(Accepts("gzip;q=nonsense", "gzip"));
}

TEST(Gzip, GivesBackTheSameText) {
  const std::string text(200'000, 'a');
  const std::string packed = *Gzip(text);
  std::string plain(text.size(), '\0');
  z_stream stream{};
  ASSERT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_out = static_cast<uInt>(plain.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  inflateEnd(&stream);
  EXPECT_EQ(plain, text);
}

}  // namespace
}  // namespace stepscope
