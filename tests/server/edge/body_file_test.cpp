// Bodies that are too large for memory wait in files.

#include "server/edge/body_file.h"

#include <filesystem>

#include "tests/server/edge/edge_test.h"

namespace stepscope {
namespace {

constexpr std::size_t kPart = 1024 * 1024;

std::string FreshFolder() {
  std::string name = testing::TempDir() + "/bodies-XXXXXX";
  return mkdtemp(name.data());
}

class BodyFileTest : public EdgeTest {
 protected:
  explicit BodyFileTest(EdgeOptions options = {.workers = 2, .body_folder = FreshFolder()})
      : EdgeTest(options), folder_(options.body_folder) {}

  static std::string Text(std::size_t bytes) {
    std::string text(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 7 + i / 251);
    return text;
  }
  static std::string SumOfText(const std::string& text) {
    std::uint64_t sum = 0;
    for (const char c : text) sum = sum * 31 + static_cast<unsigned char>(c);
    return Format(" {} {}", text.size(), sum);
  }
  static std::string Head(std::size_t bytes) {
    return Format("POST /file HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", bytes);
  }
  bool IsEmpty() const { return std::filesystem::is_empty(folder_); }

  const std::string folder_;
};

TEST_F(BodyFileTest, ASmallBodyStaysInMemory) {
  const std::string text = Text(kPart / 2);
  EXPECT_EQ(BodyOf(Ask(Head(text.size()) + text)), Format("{}{}", text.size(), SumOfText(text)));
}

TEST_F(BodyFileTest, ALargeBodyComesWholeAndHoldsLittleMemory) {
  const std::string text = Text(9 * kPart + 12'345);
  RawClient client(edge_.port());
  client.Send(Head(text.size()));
  std::uint64_t most = 0;
  for (std::size_t at = 0; at < text.size(); at += 100'000) {
    client.Send(text.substr(at, 100'000));
    most = std::max<std::uint64_t>(most, edge_.figures().body_bytes);
  }
  const std::string answer = BodyOf(client.ReadAnswer());
  EXPECT_TRUE(answer.ends_with(SumOfText(text))) << answer;
  EXPECT_LT(std::stoull(answer), 2 * kPart);
  EXPECT_LE(most, 4 * kPart);
  EXPECT_TRUE(IsEmpty()) << "the file has no name";
  EXPECT_EQ(edge_.figures().body_bytes, 0U);
  client.Send(Get("/peer"));  // the connection goes on
  EXPECT_EQ(StatusOf(client.ReadAnswer()), 200);
}

TEST_F(BodyFileTest, ChunksDoTheSame) {
  const std::string text = Text(3 * kPart);
  std::string sent = "POST /file HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (std::size_t at = 0; at < text.size(); at += 70'000) {
    const std::string piece = text.substr(at, 70'000);
    sent += Format("{:x}\r\n{}\r\n", piece.size(), piece);
  }
  EXPECT_TRUE(BodyOf(Ask(sent + "0\r\n\r\n")).ends_with(SumOfText(text)));
}

TEST_F(BodyFileTest, ABodyThatBreaksOffLeavesNothing) {
  {
    RawClient client(edge_.port());
    client.Send(Head(50 * kPart) + Text(5 * kPart));
  }
  EXPECT_TRUE(Eventually([&] { return edge_.figures().body_bytes == 0; }));
  EXPECT_TRUE(IsEmpty());
}

TEST_F(BodyFileTest, TheLengthThatARouteTakesIsABound) {
  EXPECT_EQ(StatusOf(Ask(Head(2ULL << 30))), 413);
}

class FullTest : public BodyFileTest {
 protected:
  FullTest()
      : BodyFileTest(
            {.workers = 2, .body_folder = FreshFolder(), .most_body_file_bytes = 3 * kPart}) {}
};

TEST_F(FullTest, FilesBeyondTheSumOfAllAreTurnedAway) {
  const std::string text = Text(8 * kPart);
  const std::string answer = Ask(Head(text.size()) + text);
  EXPECT_EQ(StatusOf(answer), 503);
  EXPECT_EQ(HeaderOf(answer, "retry-after"), "1");
  EXPECT_EQ(StatusOf(Ask(Head(2 * kPart) + Text(2 * kPart))), 200) << "the first one has gone";
}

class NowhereTest : public BodyFileTest {
 protected:
  NowhereTest() : BodyFileTest({.workers = 2, .body_folder = ""}) {}
};

TEST(BodyFile, OfOneSenderLeaveRoomForOthers) {
  const auto shares = std::make_shared<BodyShares>(1'000);
  const auto file = [&](const std::string& whose) {
    return *BodyFile::Make(testing::TempDir(), shares, whose);
  };
  const auto one = file("a"), second = file("a"), other = file("b");
  EXPECT_TRUE(one->Append(std::string(500, 'x')).ok());
  EXPECT_TRUE(second->Append(std::string(250, 'x')).ok());
  EXPECT_FALSE(second->Append("x").ok()) << "three quarters are taken";
  EXPECT_TRUE(other->Append(std::string(150, 'x')).ok());
  EXPECT_FALSE(other->Append(std::string(100, 'x')).ok());
  {
    const auto third = file("b");
    EXPECT_TRUE(third->Append(std::string(30, 'x')).ok());
  }
  EXPECT_TRUE(file("c")->Append(std::string(60, 'x')).ok()) << "the third one's part came back";
}

TEST(BodyFile, IsWithTheTemporaryOnesWhereItsFolderIsGone) {
  const auto file = BodyFile::Make("/nonexistent", std::make_shared<BodyShares>(100));
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE((*file)->Append("hello").ok());
  EXPECT_FALSE((*file)->Append(std::string(100, 'x')).ok());
  std::string read(10, ' ');
  EXPECT_EQ((*file)->Read(1, read), 4u);
  EXPECT_EQ(read.substr(0, 4), "ello");
}

TEST_F(NowhereTest, WithoutAFolderALargeBodyIsRefused) {
  EXPECT_EQ(StatusOf(Ask(Head(2 * kPart) + Text(2 * kPart))), 503);
  EXPECT_EQ(StatusOf(Ask(Head(5) + "hello")), 200);
}

}  // namespace
}  // namespace stepscope
