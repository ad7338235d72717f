#include "server/evaluate/window_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepscope {
namespace {

using ::testing::HasSubstr;

const Time kNow = FromMicros(1'800'000'000'000'000);

// A job of 10 minutes with steps of 100 ms, the newest of which ended 2 s ago.
WindowSituation Steady() {
  WindowSituation situation;
  situation.now = kNow;
  situation.began = kNow - 10min;
  situation.steps = {5'980, kNow - 2s, 150, 100ms, 100ms, 0.02};
  return situation;
}
WindowCost Window(std::int64_t id, const char* by, Duration ago, int ranks, double cost) {
  return {id, by, ToMicros(kNow - ago), ranks, cost};
}
std::string NoteOf(const WindowSituation& situation) {
  const WindowChoice choice = ChooseWindow(situation);
  EXPECT_FALSE(choice.start_step);
  return choice.note;
}

TEST(WindowChoice, OneWindowIsEarlyAndFarEnoughAheadToBeHeardOf) {
  const WindowChoice choice = ChooseWindow(Steady());
  EXPECT_EQ(choice.asked_by, "early");
  EXPECT_EQ(choice.start_step, 5'980 + 2 + 120) << "12 s are 120 steps";
  EXPECT_EQ(choice.note, "");
}

TEST(WindowChoice, StepsHaveToBeManyAndAlike) {
  WindowSituation situation = Steady();
  situation.steps.newest = 19;
  EXPECT_THAT(NoteOf(situation), HasSubstr("fewer than 20 steps"));
  situation.steps = {};
  EXPECT_THAT(NoteOf(situation), HasSubstr("fewer than 20 steps"));
  situation = Steady();
  situation.steps.deviation = 0.6;
  EXPECT_THAT(NoteOf(situation), HasSubstr("differ by 60 %"));
}

TEST(WindowChoice, TheFirstWaitsUntilTheJobHasTimeForIt) {
  WindowSituation situation = Steady();
  situation.began = kNow - 20s;
  EXPECT_THAT(NoteOf(situation), HasSubstr("the next would cost about 0.180 s; 0.3 % of the job's "
                                           "time is 0.060 s"));
  situation.gpus = true;
  situation.began = kNow - 3min;
  EXPECT_THAT(NoteOf(situation), HasSubstr("about 1.080 s"));
}

TEST(WindowChoice, AfterItARuleThatFiresHasOneOfItsOwn) {
  WindowSituation situation = Steady();
  situation.began = kNow - 3h;
  situation.windows = {Window(1, "early", 2h, 2, 0.3)};
  EXPECT_EQ(NoteOf(situation), "") << "nobody has a reason";
  situation.fired = {"DataloaderBottleneck", "Straggler"};
  EXPECT_EQ(ChooseWindow(situation).asked_by, "Straggler");
  situation.windows.insert(situation.windows.begin(), Window(2, "Straggler", 20min, 2, 0.3));
  EXPECT_EQ(NoteOf(situation), "");
}

TEST(WindowChoice, WhatWasRecordedBeforeMakesAnEarlyOneNeedless) {
  WindowSituation situation = Steady();
  situation.windows = {Window(1, "script", 5min, 1, 0.1)};
  EXPECT_EQ(NoteOf(situation), "");
  situation.windows[0].ranks = 0;
  EXPECT_EQ(ChooseWindow(situation).asked_by, "early");
}

TEST(WindowChoice, OneInTenMinutesAndThreeThousandthsAreTheMost) {
  WindowSituation situation = Steady();
  situation.began = kNow - 3h;
  situation.fired = {"FrameworkOverhead"};
  situation.windows = {Window(1, "early", 9min, 1, 0.3)};
  EXPECT_THAT(NoteOf(situation), HasSubstr("window 1 was 540 s ago"));
  situation.windows = {Window(1, "early", 1h, 1, 17)};
  EXPECT_THAT(NoteOf(situation), HasSubstr("windows have cost 17.000 s and the next would cost "
                                           "about 17.000 s; 0.3 % of the job's time is 32.400 s"));
  situation.windows = {Window(2, "person", 1h, 1, 12), Window(1, "early", 2h, 1, 12)};
  EXPECT_TRUE(ChooseWindow(situation).start_step) << "what a person asked for is not counted";
}

TEST(WindowChoice, ARefusalAndASlowdownEndThem) {
  WindowSituation situation = Steady();
  situation.unrecorded = "node-0: rank 0: operators refused: built without Kineto";
  EXPECT_THAT(NoteOf(situation), HasSubstr("not recorded: node-0: rank 0"));
  situation = Steady();
  situation.slowdown = "rank 3: steps take 4.1 % longer since a window";
  EXPECT_EQ(NoteOf(situation), situation.slowdown);
}

// Three hours in, PeriodicStall fires: slow steps come every 250 steps, the newest was 5,749.
WindowSituation Stalling() {
  WindowSituation situation = Steady();
  situation.began = kNow - 3h;
  situation.windows = {Window(1, "early", 1h, 1, 0.3)};
  situation.fired = {"PeriodicStall"};
  situation.stalls = StallRhythm{0, 250, ToMicros(kNow - 25s), 5'749};
  return situation;
}

TEST(WindowChoice, OfSlowStepsThatRecurItHasTheNextThatCanBeHeardOf) {
  WindowSituation situation = Stalling();
  WindowChoice choice = ChooseWindow(situation);
  EXPECT_EQ(choice.asked_by, "PeriodicStall");
  EXPECT_EQ(choice.start_step, 6'249 - 2) << "5,999 comes before agents have heard of it";
  situation.stalls->newest_step = 5'854;
  EXPECT_EQ(ChooseWindow(situation).start_step, 6'104 - 2) << "6,102 is the first that is heard of";
  situation.stalls->newest_step = 5'853;
  EXPECT_EQ(ChooseWindow(situation).start_step, 6'353 - 2);
  situation.fired = {"Straggler", "PeriodicStall"};
  EXPECT_EQ(ChooseWindow(situation).start_step, 6'102) << "Straggler's steps are all alike";
}

TEST(WindowChoice, ASlowStepThatIsFarAwayIsWaitedFor) {
  WindowSituation situation = Stalling();
  situation.stalls->every_steps = 5'000;
  EXPECT_EQ(NoteOf(situation),
            "the next slow step is about step 10749, 477 s ahead; one within 2 min is asked for");
  situation.steps.newest = 9'600;
  EXPECT_EQ(ChooseWindow(situation).start_step, 10'747);
}

TEST(WindowChoice, ARhythmThatHelpsNothingChangesNothing) {
  WindowSituation situation = Stalling();
  situation.stalls->newest_step = 90'000;
  EXPECT_EQ(ChooseWindow(situation).start_step, 6'102) << "the job counts its steps anew";
  situation = Stalling();
  situation.stalls->every_steps = 3;
  EXPECT_EQ(ChooseWindow(situation).start_step, 6'102) << "any window has one";
  situation.stalls.reset();
  EXPECT_EQ(ChooseWindow(situation).start_step, 6'102);
}

TEST(WindowChoice, TheCostliestRhythmThatGoesOnIsReadFromTheVerdict) {
  const auto rhythm = [](int every, double cost, bool fires, bool active) {
    return Json{{"every_steps", every},
                {"cost", cost},
                {"fires", fires},
                {"active", active},
                {"to_us", 1'000 + every}};
  };
  const Json verdict = {
      {"evidence",
       {{"ranks",
         {{{"rank", 2}, {"rhythms", {rhythm(9, 0.9, false, true), rhythm(50, 0.1, true, true)}}},
          {{"rank", 5}, {"rhythms", {rhythm(8, 0.8, true, false), rhythm(70, 0.2, true, true)}}},
          {{"rank", 7}, {"rhythms", Json::array()}}}}}}};
  const auto found = RhythmIn(verdict);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 5);
  EXPECT_EQ(found->every_steps, 70);
  EXPECT_EQ(found->newest_us, 1'070);
}

TEST(WindowChoice, AVerdictThatTheRuleDidNotWriteHasNoRhythm) {
  const char* const verdicts[] = {
      "null",
      "[]",
      "{}",
      R"({"evidence": 3})",
      R"({"evidence": {"ranks": {"rank": 1}}})",
      R"({"evidence": {"ranks": [1, null, {"rank": 0}, {"rank": 0, "rhythms": [2, "x", {}]}]}})",
  };
  for (const char* text : verdicts) EXPECT_FALSE(RhythmIn(*ParseJson(text))) << text;
  const char* const rhythms[] = {
      R"("every_steps": -4, "to_us": 9)",
      R"("every_steps": 1e300, "to_us": 9)",
      R"("every_steps": "7", "to_us": 9)",
      R"("every_steps": 7, "to_us": -9)",
      R"("every_steps": 7)",
      R"("every_steps": 0, "to_us": 9)",
  };
  for (const char* rhythm : rhythms) {
    const std::string text =
        R"({"evidence": {"ranks": [{"rank": 0, "rhythms": [{"fires": true, "active": true, )" +
        std::string(rhythm) + "}]}]}}";
    const auto verdict = ParseJson(text);
    ASSERT_TRUE(verdict.ok()) << text;
    EXPECT_FALSE(RhythmIn(*verdict)) << text;
  }
}

TEST(WindowChoice, APulseIsOfMedians) {
  std::vector<Step> steps;
  for (int i = 0; i < 21; ++i) {
    steps.push_back({.number = i, .start = kNow + i * 1s, .wall = i == 7 ? 9s : 100ms + i * 1ms});
  }
  const StepPulse pulse = PulseOf(steps);
  EXPECT_EQ(pulse.newest, 20);
  EXPECT_EQ(pulse.newest_end, kNow + 20s + 120ms);
  EXPECT_EQ(pulse.median, 111ms);
  EXPECT_NEAR(pulse.deviation, 0.045, 0.01);
  EXPECT_EQ(PulseOf({}).newest, -1);
}

// At the start of a job most of the few steps take long, and those to come do not.
TEST(WindowChoice, TheFirstStepThatIsHeardOfIsByTheQuickSteps) {
  std::vector<Step> steps;
  for (int i = 0; i < 8; ++i) {
    steps.push_back({.number = i, .start = kNow + i * 1s, .wall = i < 6 ? 900ms : 100ms});
  }
  const StepPulse pulse = PulseOf(steps);
  EXPECT_EQ(pulse.quick, 100ms);
  EXPECT_EQ(EarliestStep(pulse, pulse.newest_end), 7 + 2 + 100);
}

}  // namespace
}  // namespace stepscope
