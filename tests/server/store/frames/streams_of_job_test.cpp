// What a push asks Citus does to the rows what it asks one PostgreSQL.

#include "server/store/frames/streams_of_job.h"

#include <gtest/gtest.h>

#include "server/store/jobs/job_facts.h"
#include "tests/support/job_frames.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

class StreamsOfJob : public testing::TestWithParam<Placement> {
 protected:
  std::vector<Rows> Ask(const std::vector<Statement>& statements) {
    auto rows = connection_->QueryTogether(statements);
    EXPECT_TRUE(rows) << rows.error().message;
    return rows ? std::move(*rows) : std::vector<Rows>();
  }
  std::string One(const std::string& sql) {
    const auto rows = connection_->Query("select (" + sql + ")::text");
    EXPECT_TRUE(rows) << rows.error().message;
    return rows ? rows->Text(0, 0) : "";
  }

  TestDatabase database_;
  std::unique_ptr<Connection> connection_ = database_.Connect();
  JobFrames frames_{*connection_};
  const std::int64_t job_id_ = frames_.job_id();
};

TEST_P(StreamsOfJob, SeesEachNodeWithItsOwnValues) {
  std::vector<NodeSeen> nodes = {{job_id_, "east", 10, 5, 2, 0}, {job_id_, "west", 10, 7, 0, 900}};
  Ask({AddNodes(nodes)});
  const auto numbers = NodeNumbers(Ask({SeeNodes(nodes, GetParam())})[0]);
  EXPECT_EQ(numbers.size(), 2u);
  nodes[0] = {job_id_, "east", 8, 6, 3, 0};  // an older sight, measured anew
  nodes[1].suspect_offset_us = 0;
  Ask({SeeNodes(nodes, GetParam())});
  const std::string of =
      "select concat_ws(' ', last_seen_us, clock_offset_us, round_trip_us, coalesce("
      "clock_suspect_since_us, -1), coalesce(clock_suspect_offset_us, -1)) from nodes where name "
      "= ";
  EXPECT_EQ(One(of + "'east'"), "10 6 3 -1 -1");
  EXPECT_EQ(One(of + "'west'"), "10 0 0 10 900");
}

TEST_P(StreamsOfJob, LocksAndAdvancesEachStreamByItself) {
  const std::vector<StreamKey> keys = {
      {job_id_, 1, "aaaa"}, {job_id_, 1, "bbbb"}, {job_id_, 1, "none"}};
  Ask({AddStreams(std::span(keys).first(2), 1)});
  Ask({AdvanceStreams(
      std::vector<StreamAdvance>{{job_id_, 4, 1, 0, "aaaa"}, {job_id_, 9, 0, 2, "bbbb"}},
      GetParam())});
  Ask({AdvanceStreams(std::vector<StreamAdvance>{{job_id_, 5, 1, 1, "aaaa"}}, GetParam())});
  const auto cursors = CursorsOf(keys, Ask(LockStreams(keys, GetParam())));
  ASSERT_EQ(cursors.size(), 3u);
  EXPECT_EQ(cursors[0].value().stored, 5);
  EXPECT_EQ(cursors[1].value().stored, 9);
  EXPECT_FALSE(cursors[2]);
  EXPECT_EQ(One("select string_agg(lost || '-' || rejected, ' ' order by session) from streams"),
            "2-1 0-2");
}

TEST_P(StreamsOfJob, StoresFewFramesAndMany) {
  const std::vector<StreamKey> keys = {{job_id_, 1, "aaaa"}};
  Ask({AddStreams(keys, 1)});
  std::vector<NewFrame> frames;
  for (std::int64_t i = 1; i <= 40; ++i) {
    frames.push_back(
        {job_id_, 1, i, 7, i, i + 1, 2, FrameKind::kSteps, 3, true, "aaaa", "\x01\x02"});
  }
  Ask({InsertFrames(std::span(frames).first(3), GetParam())});
  Ask({InsertFrames(std::span(frames).subspan(3), GetParam())});
  EXPECT_EQ(One("select concat_ws(' ', count(*), sum(sequence), sum(rank), min(kind), "
                "bool_and(clock_suspect), max(encode(payload, 'hex'))) from frames where "
                "schema_hash = 7"),
            "40 820 120 " + std::to_string(static_cast<int>(FrameKind::kSteps)) + " t 0102");
  EXPECT_FALSE(connection_->QueryByKey(InsertFrames(std::span(frames).first(1), GetParam())));
}

TEST_P(StreamsOfJob, SeesRanksOnce) {
  const auto nodes = std::vector<NodeSeen>{{job_id_, "east", 10, 0, 0, 0}};
  Ask({AddNodes(nodes)});
  const std::int64_t node_id = NodeNumbers(Ask({SeeNodes(nodes, GetParam())})[0]).begin()->second;
  std::vector<RankSighting> ranks;
  for (std::int64_t rank = 0; rank < 20; ++rank) ranks.push_back({job_id_, node_id, rank, 5});
  Ask({RanksSeen(std::span(ranks).first(2), GetParam())});
  Ask({RanksSeen(ranks, GetParam())});
  EXPECT_EQ(One("select concat_ws(' ', count(*), sum(rank), min(node_id)) from ranks"),
            "20 190 " + std::to_string(node_id));
}

INSTANTIATE_TEST_SUITE_P(Placements, StreamsOfJob,
                         testing::Values(Placement::kTogether, Placement::kByJob));

}  // namespace
}  // namespace stepscope
