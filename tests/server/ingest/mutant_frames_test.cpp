// Frames whose bytes were changed and whose checksum was made again: what a hostile or broken agent
// can send. Each is refused by name or stored, and what is stored can be compacted and read.

#include <random>

#include "core/wire/crc32c.h"
#include "server/compact/compact_annotations.h"
#include "server/compact/compact_node.h"
#include "server/compact/compact_steps.h"
#include "server/store/annotations/annotations.h"
#include "server/store/rollups/rollups.h"
#include "server/store/steps/steps.h"
#include "server/store/ticks/ticks.h"
#include "tests/server/ingest/ingest_fixture.h"
#include "tests/support/read_all.h"

namespace stepscope {
namespace {

using test::FrameMaker;
using test::kStartUs;

constexpr int kMutants = 2'000;

class MutantFrames : public IngestTest {
 protected:
  std::string Good() {
    const std::int64_t at_us = kStartUs + std::int64_t(agent_.head.sequence) * 2'000'000;
    const auto number = static_cast<std::int64_t>(agent_.head.sequence);
    const std::size_t rows = dice_() % 2 == 0 ? 4 : 100;  // more than 64 are not packed
    switch (dice_() % 6) {
      case 0:
        return agent_.Steps(0, at_us, number * 100, rows);
      case 1:
        return agent_.Annotations(0, "load", 50'000);
      case 2:
        return agent_.Lifecycle({{"event", "rank"}, {"at_us", at_us}, {"rank", 1}});
      case 3:
        return agent_.Lost(agent_.head.sequence + 1);
      default:
        return agent_.Ticks(at_us, rows);
    }
  }
  void Flip(std::string& bytes) {
    for (std::size_t i = 0; i <= dice_() % 3 && !bytes.empty(); ++i) {
      char& byte = bytes[dice_() % bytes.size()];
      const char changed[] = {static_cast<char>(byte ^ (1 << dice_() % 8)), '\0', '\xff',
                              static_cast<char>(dice_())};
      byte = changed[dice_() % 4];
    }
  }
  // Anywhere in the frame; or in its payload; or in its schema, whose hash is made again, too.
  std::string Mutant(const std::string& good) {
    Frame frame = DecodeFrame(good).value();
    const unsigned where = dice_() % 4;
    if (where == 0) {
      std::string body = good.substr(0, good.size() - 4);
      Flip(body);
      const std::uint32_t crc = Crc32c(body);
      for (int shift = 0; shift < 32; shift += 8) body += static_cast<char>(crc >> shift);
      return body;
    }
    if (where == 1 && frame.schema) {
      std::string schema = EncodeSchema(*frame.schema);
      Flip(schema);
      const Result<Schema> changed = DecodeSchema(schema);
      if (changed) frame.schema = *changed;
      frame.head.schema_hash = HashSchema(*frame.schema);
    } else {
      Flip(frame.payload);
    }
    return EncodeFrame(frame);
  }
  // Says whether it was stored.
  bool PushMutant(const std::string& frame) {
    const std::uint64_t before = agent_.head.sequence;
    const PushReply reply = Push({frame});
    EXPECT_TRUE(reply.status == 200 || reply.status == 400 || reply.status == 409 ||
                reply.status == 410)
        << reply.status << " " << reply.problem_code << ": " << reply.detail;
    if (reply.status != 200) {
      EXPECT_FALSE(reply.problem_code.empty() || reply.detail.empty());
      return false;
    }
    for (const RejectedFrame& rejected : reply.answer.rejected) {
      EXPECT_FALSE(rejected.code.empty() || rejected.detail.empty());
    }
    // Another session has its own numbers.
    if (reply.answer.acknowledged > before) agent_.head.sequence = reply.answer.acknowledged;
    return reply.answer.rejected.empty();
  }
  void CompactAll() {
    const auto nodes = connection_->Query("select job_id, node_id from nodes order by 1, 2");
    for (std::size_t i = 0; i < nodes->size(); ++i) {
      for (bool more = true; more;) {
        const auto done = CompactNode(*connection_, nodes->Int(i, 0), nodes->Int(i, 1));
        ASSERT_TRUE(done) << done.error().message;
        more = done->more;
      }
    }
    const auto ranks = connection_->Query(
        "select distinct job_id, kind, rank from frames where kind <> 1 order by 1, 2, 3");
    for (std::size_t i = 0; i < ranks->size(); ++i) {
      const auto compact = ranks->Int(i, 1) == 2 ? CompactSteps : CompactAnnotations;
      for (bool more = true; more;) {
        const RankOfNode rank = {static_cast<int>(ranks->Int(i, 2))};
        const auto done = compact(*connection_, ranks->Int(i, 0), rank);
        ASSERT_TRUE(done) << done.error().message;
        more = done->more;
      }
    }
    EXPECT_EQ(Frames(), 0);
  }
  // How many rows there are.
  std::size_t ReadAll() {
    std::size_t read = 0;
    const auto nodes = connection_->Query("select job_id, node_id from nodes order by 1, 2");
    for (std::size_t i = 0; i < nodes->size(); ++i) {
      TickQuery query{.job_id = nodes->Int(i, 0), .node_id = nodes->Int(i, 1), .filter = {}};
      for (bool more = true; more;) {
        const auto ticks = ReadTicks(*connection_, query);
        EXPECT_TRUE(ticks) << ticks.error().message;
        if (!ticks) return 0;
        read += ticks->at_us.size();
        more = !ticks->complete && !ticks->at_us.empty();
        if (more) query.after_us = ticks->at_us.back();
      }
      for (const RollupLevel& level : kRollupLevels) {
        const auto rollups = LoadRollups(
            *connection_,
            {.job_id = query.job_id, .node_ids = {}, .bin_us = level.bin_us, .filter = {}});
        EXPECT_TRUE(rollups) << rollups.error().message;
      }
      const auto steps = ReadSteps(*connection_, {.job_id = query.job_id, .rank = 0});
      EXPECT_TRUE(steps) << steps.error().message;
      const int ranks[] = {0, 1};
      const auto annotations = ReadAnnotations(*connection_, query.job_id, ranks);
      EXPECT_TRUE(annotations) << annotations.error().message;
      read += (steps ? steps->size() : 0) + (annotations ? annotations->size() : 0);
    }
    return read;
  }

  FrameMaker agent_{"train"};
  std::mt19937 dice_{20261125};
};

TEST_F(MutantFrames, AreRefusedByNameOrStoredAndRead) {
  ExpectStored(Push({agent_.Started()}), 1);
  int stored = 0, refused = 0;
  for (int i = 0; i < kMutants; ++i) {
    const std::uint64_t before = agent_.head.sequence;
    const std::string mutant = Mutant(Good());
    agent_.head.sequence = before;
    PushMutant(mutant) ? ++stored : ++refused;
    if (i % 100 != 0) continue;
    const std::string good = agent_.Ticks(kStartUs);
    const PushReply reply = Push({good});
    EXPECT_TRUE(reply.answer.rejected.empty());
    ExpectStored(reply, agent_.head.sequence);
  }
  EXPECT_GT(stored, kMutants / 20);
  EXPECT_GT(refused, kMutants / 10);
  const std::size_t before = ReadAll();
  EXPECT_GT(before, 1'000u);
  CompactAll();
  EXPECT_EQ(ReadAll(), before);
  const std::string good = agent_.Ticks(kStartUs);
  ExpectStored(Push({good}), agent_.head.sequence);
}

}  // namespace
}  // namespace stepscope
