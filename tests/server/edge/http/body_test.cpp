#include "server/edge/http/body.h"

#include <gtest/gtest.h>

#include "tests/support/edge_bytes.h"
#include "tests/support/gzipped.h"
#include "tests/support/mutate.h"

namespace stepscope {
namespace {

Head WithLength(std::uint64_t bytes, Coding coding = Coding::kIdentity) {
  Head head;
  head.framing = Framing::kLength;
  head.content_length = bytes;
  head.coding = coding;
  return head;
}

Head Chunked(Coding coding = Coding::kIdentity) {
  Head head;
  head.framing = Framing::kChunked;
  head.coding = coding;
  return head;
}

// In chunks of this size.
std::string InChunks(std::string_view text, std::size_t size) {
  std::string body;
  for (; !text.empty(); text.remove_prefix(std::min(size, text.size()))) {
    const std::string_view data = text.substr(0, size);
    body += Format("{:x}\r\n{}\r\n", data.size(), data);
  }
  return body + "0\r\n\r\n";
}

TEST(BodyReader, IsDoneAtOnceWithoutABody) {
  EXPECT_EQ(BodyReader(Head{}, {}).progress(), Progress::kDone);
  EXPECT_EQ(BodyReader(WithLength(0), {}).progress(), Progress::kDone);
}

TEST(BodyReader, TakesWhatTheHeadSaysAndNoMore) {
  EXPECT_EQ(BodyOutcome(WithLength(5), {}, {"helloGET /"}), "5 bytes: hello");
  EXPECT_EQ(BodyOutcome(WithLength(5), {}, {"hell"}), "more after 4");
  EXPECT_EQ(BodyOutcome(Chunked(), {}, {"5\r\nhello\r\n0\r\n\r\nGET /"}), "15 bytes: hello");
}

TEST(BodyReader, UnpacksUnderBothFramings) {
  const std::string packed = Gzipped("a text");
  EXPECT_EQ(BodyOutcome(WithLength(packed.size(), Coding::kGzip), {}, {packed + "GET /"}),
            Format("{} bytes: a text", packed.size()));
  const std::string chunks = InChunks(packed, 7);
  EXPECT_EQ(BodyOutcome(Chunked(Coding::kGzip), {}, {chunks + "GET /"}),
            Format("{} bytes: a text", chunks.size()));
}

TEST(BodyReader, PackedDataMustFillTheBody) {
  const std::string packed = Gzipped("a text");
  const std::string shortened = packed.substr(0, packed.size() - 1);
  for (const std::string& bytes : {std::string(), shortened, shortened.substr(0, 5)}) {
    EXPECT_EQ(BodyOutcome(WithLength(bytes.size(), Coding::kGzip), {}, {bytes}),
              "refused bad-request: the gzip data of the body ends too early");
    EXPECT_EQ(BodyOutcome(Chunked(Coding::kGzip), {}, {InChunks(bytes, 9)}),
              "refused bad-request: the gzip data of the body ends too early");
  }
  EXPECT_EQ(BodyOutcome(WithLength(packed.size() + 1, Coding::kGzip), {}, {packed + "x"}),
            "refused bad-request: bytes follow the gzip data of the body");
}

// T5: a body of 1 GB, declared or in chunks, was read to its end.
TEST(BodyReader, ABodyBeyondTheLimitIsRefusedUnread) {
  const BodyLimits limits{.most_bytes = 1'000, .inflate = {}};
  EXPECT_EQ(BodyReader(WithLength(1'000), limits).progress(), Progress::kMore);
  EXPECT_EQ(BodyReader(WithLength(1'001), limits).progress(), Progress::kFault);
  EXPECT_EQ(BodyOutcome(WithLength(1'000'000'000), limits, {}),
            "refused too-large: the body has 1000000000 bytes, at most 1000 are taken");
  EXPECT_EQ(BodyOutcome(Chunked(), limits, {"3b9aca00\r\n"}),
            "refused too-large: the body has more than 1000 bytes");
}

TEST(BodyReader, ABombIsRefusedUnderBothFramings) {
  const std::string bomb = Gzipped(std::string(64 * 1024 * 1024, '\0'));
  for (const auto& [head, bytes] : {std::pair{WithLength(bomb.size(), Coding::kGzip), bomb},
                                    std::pair{Chunked(Coding::kGzip), InChunks(bomb, 100)}}) {
    BodyReader reader(head, {});
    std::size_t consumed = 0;
    EXPECT_EQ(reader.Feed(bytes, consumed), Progress::kFault);
    EXPECT_EQ(reader.refusal().code, "too-large");
    EXPECT_EQ(reader.held_bytes(), std::string().capacity());
  }
}

TEST(BodyReader, HoldsNoMoreThanTwiceWhatCame) {
  constexpr std::size_t kLength = 4 * 1024 * 1024, kPiece = 1'000;
  const std::string piece(kPiece, 'x');
  for (const Head& head : {WithLength(kLength), Chunked()}) {
    BodyReader reader(head, {.most_bytes = kLength, .inflate = {}});
    std::size_t consumed = 0, data = 0;
    while (data + kPiece <= kLength) {
      const std::string bytes = head.framing == Framing::kChunked ? InChunks(piece, kPiece) : piece;
      reader.Feed(bytes.substr(0, bytes.size() - (bytes.size() > kPiece ? 5 : 0)), consumed);
      data += kPiece;
      ASSERT_LE(reader.held_bytes(), std::max<std::size_t>(2 * data, 8192));
    }
    EXPECT_EQ(reader.held_bytes(), kLength);
  }
}

TEST(BodyReader, EveryCutGivesTheSame) {
  const std::string packed = Gzipped(std::string(3'000, 'x') + "and a text");
  const std::string chunks = InChunks(packed, 5);
  const std::string whole = BodyOutcome(Chunked(Coding::kGzip), {}, {chunks});
  EXPECT_EQ(BodyOutcome(Chunked(Coding::kGzip), {}, CutEverywhere(chunks)), whole);
  for (std::size_t at = 0; at <= chunks.size(); ++at) {
    EXPECT_EQ(BodyOutcome(Chunked(Coding::kGzip), {}, CutAt(chunks, at)), whole) << at;
  }
}

TEST(BodyReader, TenThousandMutantsGiveTheSameHoweverCut) {
  std::mt19937 dice(20270104);
  const std::string packed = Gzipped("a text that is short, and short, and short");
  const BodyLimits limits{.most_bytes = 200, .inflate = {.most_bytes = 60}};
  const std::pair<Head, std::string> bodies[] = {
      {Chunked(Coding::kGzip), InChunks(packed, 11)},
      {Chunked(), InChunks("a text that is short", 3)},
      {WithLength(packed.size(), Coding::kGzip), packed},
      {WithLength(10), "0123456789GET / HTTP/1.1\r\n"},
  };
  for (int mutant = 0; mutant < 10'000; ++mutant) {
    const auto& [head, body] = bodies[mutant % std::size(bodies)];
    const std::string bytes = Mutate(body, dice);
    const std::string whole = BodyOutcome(head, limits, {bytes});
    ASSERT_EQ(BodyOutcome(head, limits, CutEverywhere(bytes)), whole) << ToHex(bytes);
    ASSERT_EQ(BodyOutcome(head, limits, CutAnyhow(bytes, dice, 9)), whole) << ToHex(bytes);
  }
}

}  // namespace
}  // namespace stepscope
