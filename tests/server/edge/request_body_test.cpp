// Bodies as they come over a socket: framings, codings, and their bounds.

#include "tests/server/edge/edge_test.h"
#include "tests/support/gzipped.h"

namespace stepscope {
namespace {

class RequestBodyTest : public EdgeTest {
 protected:
  std::string AskWith(const std::string& headers, const std::string& body) const {
    return Ask(Post(headers, body));
  }
  std::string AskPacked(const std::string& packed, const std::string& coding) const {
    return AskWith(Format("Content-Encoding: {}\r\nContent-Length: {}\r\n", coding, packed.size()),
                   packed);
  }
};

TEST_F(RequestBodyTest, ChunksArePutTogether) {
  EXPECT_EQ(BodyOf(AskWith("Transfer-Encoding: chunked\r\n", "2\r\nab\r\n1\r\nc\r\n0\r\n\r\n")),
            "abc");
}

TEST_F(RequestBodyTest, GzipIsUnpackedUnderBothFramings) {
  const std::string text(100'000, 'x'), packed = Gzipped(text.substr(0, 60'000));
  EXPECT_EQ(BodyOf(AskPacked(packed, "gzip")).size(), 60'000U);
  EXPECT_EQ(BodyOf(AskWith("Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
                           Format("{:x}\r\n{}\r\n0\r\n\r\n", packed.size(), packed)))
                .size(),
            60'000U);
}

TEST_F(RequestBodyTest, OtherCodingsAreRefusedUnread) {
  for (const char* coding : {"zstd", "br", "deflate", "gzip, gzip"}) {
    const std::string answer = AskPacked("anything", coding);
    EXPECT_EQ(StatusOf(answer), 400) << coding;
    EXPECT_TRUE(BodyOf(answer).starts_with("unsupported-media-type")) << answer;
  }
}

TEST_F(RequestBodyTest, ADeclaredLengthBeyondTheLimitIsRefusedBeforeAByteIsRead) {
  const std::string answer = AskWith("Content-Length: 1000000000\r\n", "");
  EXPECT_EQ(StatusOf(answer), 413);
  EXPECT_EQ(HeaderOf(answer, "connection"), "close");
}

TEST_F(RequestBodyTest, ChunksBeyondTheLimitAreRefused) {
  EXPECT_EQ(StatusOf(AskWith("Transfer-Encoding: chunked\r\n", "ffffff\r\n")), 413);
}

// T6: 10 MB unpacked to 10 GB.
TEST_F(RequestBodyTest, ABombIsRefusedWhileItUnpacks) {
  const std::string answer = AskPacked(Gzipped(std::string(100'000'000, '\0')), "gzip");
  EXPECT_EQ(StatusOf(answer), 413);
  EXPECT_EQ(edge_.figures().body_bytes, 0U);
}

TEST_F(RequestBodyTest, AClientThatKeepsSendingStillReadsTheRefusal) {
  RawClient client(edge_.port());
  client.Send(Post("Content-Length: 5000000\r\n", ""));
  client.Send(std::string(5'000'000, 'x'));  // 5 MB, all of it before it reads
  EXPECT_EQ(StatusOf(client.ReadAnswer()), 413);
}

TEST_F(RequestBodyTest, ARequestInTwoWaysIsRefused) {
  for (const char* headers :
       {"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 4\r\nContent-Length: 4\r\n", "Content-Length: +4\r\n",
        "Transfer-Encoding: chunked, chunked\r\n", "Transfer-Encoding: identity\r\n"}) {
    const std::string answer = AskWith(headers, "body");
    EXPECT_EQ(StatusOf(answer), 400) << headers;
    EXPECT_EQ(HeaderOf(answer, "connection"), "close") << headers;
  }
}

}  // namespace
}  // namespace stepscope
