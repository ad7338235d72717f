#include "server/edge/http/inflate.h"

#include <gtest/gtest.h>

#include "tests/support/edge_bytes.h"
#include "tests/support/gzipped.h"
#include "tests/support/mutate.h"

namespace stepscope {
namespace {

constexpr std::size_t kMebibyte = 1024 * 1024;

// Bytes that hardly pack, the same for the same seed.
std::string Noise(std::size_t size, unsigned seed) {
  std::mt19937 dice(seed);
  std::string noise(size, '\0');
  for (char& byte : noise) byte = static_cast<char>(dice() % 64);
  return noise;
}

struct Unpacked {
  Progress progress = Progress::kMore;
  std::string text, why;
  friend bool operator==(const Unpacked&, const Unpacked&) = default;
};

Unpacked Unpack(const Pieces& pieces, const InflateLimits& limits = {}) {
  Inflater inflater(limits);
  Unpacked unpacked;
  for (const std::string_view piece : pieces) {
    unpacked.progress = inflater.Feed(piece, unpacked.text);
    if (unpacked.progress == Progress::kFault) unpacked.why = ToText(inflater.refusal());
  }
  return unpacked;
}

// The outcome alone: what came out before a refusal depends on where it was noticed.
std::string InflateOutcome(const Pieces& pieces, const InflateLimits& limits = {}) {
  const Unpacked unpacked = Unpack(pieces, limits);
  if (unpacked.progress == Progress::kFault) return unpacked.why;
  return Format("{} {}", static_cast<int>(unpacked.progress), unpacked.text);
}

TEST(Inflater, GivesBackWhatWasPacked) {
  for (const std::size_t size : {0, 1, 1'000, 100'000, 3'000'000}) {
    const std::string text = Noise(size, 1);
    const Unpacked unpacked = Unpack({Gzipped(text)});
    EXPECT_EQ(unpacked.progress, Progress::kDone) << unpacked.why;
    EXPECT_TRUE(unpacked.text == text) << size;
  }
}

TEST(Inflater, EveryCutGivesTheSame) {
  const std::string packed = Gzipped(Noise(2'000, 2) + std::string(40'000, 'x'));
  const Unpacked whole = Unpack({packed});
  ASSERT_EQ(whole.progress, Progress::kDone) << whole.why;
  EXPECT_EQ(Unpack(CutEverywhere(packed)), whole);
  for (std::size_t at = 0; at <= packed.size(); ++at) {
    EXPECT_EQ(Unpack(CutAt(packed, at)), whole) << at;
  }
}

// T6: 10 MB that unpack to 10 GB. Of these no more comes out than the ratio allows, and a mebibyte.
TEST(Inflater, ABombIsRefusedEarlyHoweverItIsCut) {
  const std::string bomb = Gzipped(std::string(64 * kMebibyte, '\0'));
  for (const std::size_t most : {std::size_t{7}, std::size_t{1'500}, bomb.size()}) {
    std::mt19937 dice(3);
    const Unpacked unpacked = Unpack(CutAnyhow(bomb, dice, most));
    EXPECT_EQ(unpacked.why, "refused too-large: the body unpacks to more than 100 times its size");
    EXPECT_LE(unpacked.text.size(), 2 * kMebibyte) << most;
  }
}

TEST(Inflater, NeverGivesMoreThanTheLimit) {
  const std::string packed = Gzipped(Noise(20'000, 4));
  EXPECT_EQ(Unpack({packed}, {.most_bytes = 20'000}).progress, Progress::kDone);
  const Unpacked refused = Unpack({packed}, {.most_bytes = 19'999});
  EXPECT_EQ(refused.why, "refused too-large: the body unpacks to more than 19999 bytes");
  EXPECT_LE(refused.text.size(), 19'999U);
  EXPECT_EQ(InflateOutcome(CutEverywhere(packed), {.most_bytes = 19'999}), refused.why);
}

TEST(Inflater, SmallTextsMayPackWell) {
  const std::string packed = Gzipped(std::string(64 * 1024, 'a'));
  EXPECT_GT(64 * 1024U, 100 * packed.size());
  EXPECT_EQ(Unpack({packed}).progress, Progress::kDone);
}

TEST(Inflater, RefusesWhatIsNotOneMember) {
  const std::string packed = Gzipped("text");
  const std::string damaged_sum = packed.substr(0, packed.size() - 8) + "xxxx\4";
  EXPECT_EQ(InflateOutcome({packed + "x"}),
            "refused bad-request: bytes follow the gzip data of the body");
  EXPECT_EQ(InflateOutcome({packed, "x"}), InflateOutcome({packed + "x"}));
  EXPECT_EQ(InflateOutcome({packed + packed}), InflateOutcome({packed + "x"}));
  for (const std::string& bytes : {std::string("text"), std::string("x\x9c\3\0\0\0\0\1", 8),
                                   std::string("\x1f\x8b\1x"), damaged_sum}) {
    EXPECT_EQ(InflateOutcome({bytes}), "refused bad-request: the body is not valid gzip data");
  }
}

TEST(Inflater, ATruncatedMemberIsNeverDone) {
  const std::string packed = Gzipped("text");
  for (std::size_t size = 0; size < packed.size(); ++size) {
    EXPECT_EQ(Unpack({packed.substr(0, size)}).progress, Progress::kMore) << size;
  }
}

TEST(Inflater, TenThousandMutantsGiveTheSameHoweverCut) {
  std::mt19937 dice(20270103);
  const InflateLimits limits{.most_bytes = 3'000, .most_ratio = 4, .free_bytes = 100};
  const std::string packed[] = {Gzipped("a text that is short"), Gzipped(Noise(3'000, 5)),
                                Gzipped(Noise(1'200, 6) + std::string(1'500, 'y')),
                                Gzipped(std::string(2'990, 'x')), Gzipped(Noise(900, 7), 0)};
  for (int mutant = 0; mutant < 10'000; ++mutant) {
    const std::string bytes = Mutate(packed[mutant % std::size(packed)], dice);
    const std::string whole = InflateOutcome({bytes}, limits);
    ASSERT_EQ(InflateOutcome(CutEverywhere(bytes), limits), whole) << ToHex(bytes);
    ASSERT_EQ(InflateOutcome(CutAnyhow(bytes, dice, 100), limits), whole) << ToHex(bytes);
  }
}

}  // namespace
}  // namespace stepscope
