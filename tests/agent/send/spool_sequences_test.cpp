// The spool on a file system that crashes, tears and fails: random sequences, and each call failing
// in turn. STEPSCOPE_SPOOL_SEQUENCES is their number, STEPSCOPE_SPOOL_SEED the first seed.

#include <cstdlib>

#include "core/base/log.h"
#include "tests/agent/send/spool_world.h"

namespace stepscope {
namespace {

using test::SpoolWorld;

struct SpoolSequences : testing::Test {
  static void SetUpTestSuite() { StartLog("spool_sequences_test", LogLevel::kError); }
  static unsigned Given(const char* variable, unsigned otherwise) {
    const char* given = std::getenv(variable);
    return given != nullptr ? static_cast<unsigned>(std::atoi(given)) : otherwise;
  }
  const unsigned first = Given("STEPSCOPE_SPOOL_SEED", 1);
  const unsigned end = first + Given("STEPSCOPE_SPOOL_SEQUENCES", 2'000);
};

// A kind of sequence; `large` fills segments and the spool.
struct Kind {
  bool faults = false, large = false;
};

void Act(SpoolWorld& world, const Kind& kind) {
  switch (world.dice() % (kind.faults ? 14 : 13)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return world.AppendTable(1 + world.dice() % 4);
    case 4:
      return world.AppendEvent(kind.large ? world.dice() % 700'000 : 0);
    case 5:
    case 6:
      return world.clock.Advance(std::chrono::seconds(1 + world.dice() % 40));
    case 7:
    case 8:
      return (void)world.Store();
    case 9:
    case 10:
      return world.Send();
    case 11:
      world.service.up = world.dice() % 3 == 0;
      world.service.answers_arrive = world.dice() % 4 != 0;
      return;
    case 12:
      if (world.dice() % 3 != 0) return;
      world.Kill(world.dice() % 2 == 0);
      return world.Start();
    default:
      return world.files->FailAt(1 + world.dice() % 12,
                                 world.dice() % 2 == 0 ? Code::kUnavailable : Code::kInternal);
  }
}

std::string Try(unsigned seed, bool faults) {
  const Kind kind{.faults = faults, .large = seed % 40 == 0};
  SpoolWorld world(seed, (kind.large ? 4 : 64) * kSegmentBytes);
  world.service.up = seed % 2 == 0;
  for (std::uint64_t left = 20 + world.dice() % 60; left > 0; --left) Act(world, kind);
  world.DeliverAll();
  if (!world.Doubled().empty()) return Format("sample {} came twice", world.Doubled()[0]);
  const auto missing = world.Missing();
  const bool told = world.service.numbers_lost > 0;
  if (missing.empty() || ((kind.faults || kind.large) && told)) return "";
  return Format("sample {} and {} others are missing", missing[0], missing.size() - 1);
}

TEST_F(SpoolSequences, LoseNothingOnDiskByAnyCrash) {
  for (unsigned seed = first; seed < end; ++seed) {
    ASSERT_EQ(Try(seed, false), "") << "seed " << seed;
  }
}

TEST_F(SpoolSequences, LoseNothingInSilenceWhenTheDiskFails) {
  for (unsigned seed = first; seed < end; ++seed) {
    ASSERT_EQ(Try(seed, true), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace stepscope
