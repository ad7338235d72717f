#include "server/edge/http/chunks.h"

#include <gtest/gtest.h>

#include "tests/support/edge_bytes.h"
#include "tests/support/mutate.h"

namespace stepscope {
namespace {

constexpr std::string_view kBody =
    "5\r\nhello\r\n00000001\r\n \r\nA\r\n0123456789\r\na\r\n\r\n0\r\n\r\n9\r\n\r\n000\r\n\r\n";

// The outcome of the pieces for a reader that takes at most `most` bytes.
std::string ChunkOutcome(const Pieces& pieces, std::uint64_t most = 1'000) {
  ChunkReader reader(most);
  std::string body;
  std::size_t total = 0;
  Progress progress = Progress::kMore;
  for (std::string_view piece : pieces) {
    while (!piece.empty() && progress == Progress::kMore) {
      std::size_t consumed = 0;
      std::string_view data;
      progress = reader.Feed(piece, consumed, data);
      piece.remove_prefix(consumed);
      total += consumed;
      body += data;
    }
  }
  if (progress == Progress::kMore) return Format("more after {}: {}", total, body);
  if (progress == Progress::kDone) return Format("{} bytes: {}", total, body);
  return Format("{} after {}: {}", ToText(reader.refusal()), total, body);
}

TEST(ChunkReader, GivesTheDataAndLeavesWhatFollows) {
  EXPECT_EQ(ChunkOutcome({kBody}),
            Format("{} bytes: hello 0123456789\r\n0\r\n\r\n9\r\n", kBody.size()));
  EXPECT_EQ(ChunkOutcome({std::string(kBody) + "GET / HTTP/1.1"}), ChunkOutcome({kBody}));
  EXPECT_EQ(ChunkOutcome({"0\r\n\r\n"}), "5 bytes: ");
}

TEST(ChunkReader, EveryCutGivesTheSame) {
  EXPECT_EQ(ChunkOutcome(CutEverywhere(kBody)), ChunkOutcome({kBody}));
  for (std::size_t at = 0; at <= kBody.size(); ++at) {
    EXPECT_EQ(ChunkOutcome(CutAt(kBody, at)), ChunkOutcome({kBody})) << at;
  }
}

struct RefusedChunk {
  std::string_view bytes, why;
};

// T16: `0x5`, `-2` and `5zzz` were taken by the stock server, `-2` hung it.
TEST(ChunkReader, RefusesWhatIsNotPlain) {
  constexpr std::string_view kSize = "the size of a chunk is not 1 to 8 hexadecimal digits";
  constexpr std::string_view kEnd = "a chunk does not end with CR LF";
  constexpr RefusedChunk kAll[] = {
      {"\r\n", kSize},
      {"0x5\r\n", kSize},
      {"-2\r\n", kSize},
      {"+5\r\n", kSize},
      {"5zzz\r\n", kSize},
      {" 5\r\n", kSize},
      {"5 \r\n", kSize},
      {"000000005\r\n", kSize},
      {"fffffffff\r\n", kSize},
      {"5\n", kSize},
      {"5\rh", kEnd},
      {"5;x=y\r\n", "a chunk has an extension"},
      {"0;x\r\n", "a chunk has an extension"},
      {"1\r\nab", kEnd},
      {"1\r\na\n", kEnd},
      {"1\r\na\rb", kEnd},
      {"0\r\nX: y\r\n\r\n", "trailers behind a chunked body"},
      {"0\r\n\n", "trailers behind a chunked body"},
      {"0\r\n\rx", kEnd},
  };
  for (const auto& [bytes, why] : kAll) {
    const std::string outcome = ChunkOutcome({bytes});
    EXPECT_TRUE(outcome.starts_with(Format("refused bad-request: {} after", why)))
        << Printable(bytes) << ": " << outcome;
    EXPECT_EQ(ChunkOutcome(CutEverywhere(bytes)), outcome);
  }
}

TEST(ChunkReader, RefusesASizeBeforeItsData) {
  EXPECT_EQ(ChunkOutcome({"a\r\n0123456789\r\n"}, 10), "more after 15: 0123456789");
  EXPECT_EQ(ChunkOutcome({"a\r\n0123456789\r\n1\r\n"}, 10),
            "refused too-large: the body has more than 10 bytes after 18: 0123456789");
  EXPECT_EQ(ChunkOutcome({"ffffffff\r\n"}, 10),
            "refused too-large: the body has more than 10 bytes after 10: ");
}

TEST(ChunkReader, TenThousandMutantsGiveTheSameHoweverCut) {
  std::mt19937 dice(20270102);
  for (int mutant = 0; mutant < 10'000; ++mutant) {
    const std::string bytes = Mutate(kBody, dice);
    const std::string whole = ChunkOutcome({bytes}, 60);
    ASSERT_EQ(ChunkOutcome(CutEverywhere(bytes), 60), whole) << ToHex(bytes);
    ASSERT_EQ(ChunkOutcome(CutAnyhow(bytes, dice, 9), 60), whole) << ToHex(bytes);
  }
}

}  // namespace
}  // namespace stepscope
