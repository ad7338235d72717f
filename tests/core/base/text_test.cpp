#include "core/base/text.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(Split("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(Split("", ','), (std::vector<std::string_view>{""}));
}

TEST(Trim, TakesBlanksFromBothEnds) {
  EXPECT_EQ(Trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(Trim(" \n"), "");
}

TEST(ParseInt, RefusesWhatIsNotAWholeNumber) {
  EXPECT_EQ(*ParseInt("-42", "limit"), -42);
  for (const char* text : {"", "1.5", "12x", " 1", "99999999999999999999"}) {
    const Result<std::int64_t> parsed = ParseInt(text, "limit");
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().message, Format("limit '{}': not a whole number", text));
  }
}

TEST(Printable, ShowsControlBytesAndStops) {
  EXPECT_EQ(Printable("a\n\x1b[31m"), "a\\x0a\\x1b[31m");
  EXPECT_EQ(Printable("a\xc2\x9b"
                      "31m"),
            "a\\xc2\\x9b31m");  // CSI in one character
  EXPECT_EQ(Printable("a\u202eb"), "a\\xe2\\x80\\xaeb");
  EXPECT_EQ(Printable("gr\u00fc\u00df \u2028\xff"), "gr\u00fc\u00df \u2028\xef\xbf\xbd");
  EXPECT_EQ(Printable("abcdef", 3), "abc...");
}

TEST(ValidUtf8, ReplacesWhatIsNoCharacter) {
  EXPECT_EQ(ValidUtf8("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(ValidUtf8("a\xff"), "a\xef\xbf\xbd");
  EXPECT_EQ(ValidUtf8("\xc0\xaf").find('/'), std::string::npos);      // an overlong '/'
  EXPECT_EQ(ValidUtf8("\xed\xa0\x80").substr(0, 3), "\xef\xbf\xbd");  // a lone surrogate
  EXPECT_EQ(ValidUtf8("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd");       // cut short
  EXPECT_EQ(ValidUtf8(std::string_view("a\0b\x7f", 4)), "ab");
}

TEST(Hex, GoesBothWays) {
  const std::string bytes("\x00\x9f\xff", 3);
  EXPECT_EQ(ToHex(bytes), "009fff");
  EXPECT_EQ(*FromHex("009FFF"), bytes);
  EXPECT_FALSE(FromHex("0").ok());
  EXPECT_FALSE(FromHex("0g").ok());
}

// RFC 4648, section 10.
TEST(Base64, AgreesWithTheStandard) {
  EXPECT_EQ(ToBase64(""), "");
  EXPECT_EQ(ToBase64("f"), "Zg==");
  EXPECT_EQ(ToBase64("fo"), "Zm8=");
  EXPECT_EQ(ToBase64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(*FromBase64("Zm9vYg=="), "foob");
  EXPECT_EQ(ToBase64Url("\xfb\xff"), "-_8");
  EXPECT_EQ(*FromBase64Url("-_8"), "\xfb\xff");
}

TEST(Base64, RefusesASecondSpellingOfTheSameBytes) {
  for (const char* text : {"Zg=", "Zg", "Zh==", "Z===", "Zm 8", "Zg==Zg=="}) {
    EXPECT_FALSE(FromBase64(text).ok()) << text;
  }
}

}  // namespace
}  // namespace stepscope
