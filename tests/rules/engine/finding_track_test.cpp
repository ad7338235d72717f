#include "rules/engine/finding_track.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

Time At(int minute) {
  return Time(std::chrono::minutes(minute));
}

TEST(FindingTrack, JoinsABadHourIntoOneFinding) {
  FindingTrack track;
  for (int minute = 0; minute < 60; ++minute) {
    track.Trigger({"a", "0"}, At(minute), At(minute + 1), "low", {{"minute", minute}});
  }
  const auto findings = track.Take();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].from, At(0));
  EXPECT_EQ(findings[0].to, At(60));
  EXPECT_EQ(findings[0].evidence["minute"], 59);
}

TEST(FindingTrack, JoinsAcrossAGapWithoutBeginningEarlier) {
  FindingTrack track;
  const Subject gpu{"a", "0"};
  const Time start = FromMicros(0);
  track.Trigger(gpu, start + 10s, start + 20s, "", {}, 2s);
  EXPECT_TRUE(track.Joins(gpu, start + 22s, 2s));
  track.Trigger(gpu, start + 22s, start + 30s, "", {}, 2s);
  track.Trigger(gpu, start + 33s, start + 40s, "", {}, 2s);
  const auto findings = track.Take();
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].from, start + 10s);
  EXPECT_EQ(findings[0].to, start + 30s);
  EXPECT_EQ(findings[1].from, start + 33s);
}

TEST(FindingTrack, KeepsStretchesAndSubjectsApart) {
  FindingTrack track;
  track.Trigger({"a", "0"}, At(0), At(1), "", {});
  track.Trigger({"a", "1"}, At(0), At(1), "", {});
  track.Trigger({"a", "0"}, At(5), At(6), "", {});
  EXPECT_EQ(track.Take().size(), 3u);
  EXPECT_EQ(track.count(), 3);
}

TEST(FindingTrack, SaysOnlyWhatChanged) {
  FindingTrack track;
  track.Trigger({"a", ""}, At(0), At(1), "", {});
  track.Take();
  EXPECT_TRUE(track.Take().empty());
  track.Trigger({"a", ""}, At(1), At(2), "", {});
  const auto longer = track.Take();
  ASSERT_EQ(longer.size(), 1u);
  EXPECT_EQ(longer[0].number, 1);
  EXPECT_EQ(longer[0].from, At(0));
}

TEST(FindingTrack, MakesStretchesLongerAfterSaveAndLoad) {
  FindingTrack track, loaded;
  track.Trigger({"a", "", 3}, At(0), At(1), "", {});
  ASSERT_TRUE(LoadFields(SaveFields(track), loaded).ok());
  loaded.Trigger({"a", "", 3}, At(1), At(2), "", {});
  const auto findings = loaded.Take();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].number, 1);
  EXPECT_EQ(findings[0].from, At(0));
}

TEST(FindingTrack, CountsWhatIsBeyondItsBound) {
  FindingTrack track;
  for (int i = 0; i < 1500; ++i) track.Trigger({"a", ""}, At(10 * i), At(10 * i + 1), "", {});
  EXPECT_EQ(track.Take().size(), 1000u);
  EXPECT_EQ(track.left_out(), 500);
}

TEST(FindingTrack, RefusesStateThatIsNotItsOwn) {
  FindingTrack track;
  track.Trigger({"a", "", 3}, At(0), At(1), "", {});
  const std::string state = SaveFields(track);
  for (const std::string& other :
       {std::string(), std::string("{}"), state.substr(1), state + "1"}) {
    FindingTrack loaded;
    EXPECT_FALSE(LoadFields(other, loaded).ok()) << other;
  }
}

}  // namespace
}  // namespace stepscope
