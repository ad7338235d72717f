#include "agent/collect/source.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

TEST(Source, ReadsTextsOfAnyLengthWhicheverWasThereBefore) {
  const test::FakeRoot root;
  root.Write("/proc/text", "");
  auto source = Source::Open(root.path(), "/proc/text");
  ASSERT_TRUE(source.ok());
  for (const std::size_t size :
       {10, 0, 2047, 2048, 4095, 4096, 4097, 100, 8191, 8192, 8193, 3000, 40'000, 16'384, 1}) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) text += static_cast<char>('a' + i % 23);
    root.Write("/proc/text", text);
    const auto read = source->Read();
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, text) << size;
  }
}

TEST(Source, NamesTheFileThatIsNotThereOrTooLarge) {
  const test::FakeRoot root;
  EXPECT_EQ(Source::Open(root.path(), "/proc/none").error().code, Code::kNotFound);
  root.Write("/proc/huge", std::string((16 << 20) + 1, 'x'));
  auto huge = Source::Open(root.path(), "/proc/huge");
  const auto read = huge->Read();
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().message, "/proc/huge: larger than 16 MiB");
}

}  // namespace
}  // namespace stepscope
