#include "server/report/page/card.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/text.h"

namespace stepscope {
namespace {

OrderedJson Cause(const char* cause, double share) {
  return {{"cause", cause},
          {"words", cause},
          {"share", share},
          {"speed_up", 2.7},
          {"advice", "Use more data-loader workers where cores are free."}};
}

Report Sample() {
  Report report;
  report.url = "https://stepscope.example/jobs/resnet-42";
  report.job.name = "resnet-42";
  report.job.group = "nightly";
  report.job.status = JobStatus::kCompleted;
  report.nodes.emplace_back();
  report.nodes.front().name = "n1";
  report.nodes.front().gpus = 8;
  report.nodes.front().gpu_name = "NVIDIA A100";
  report.times.from_us = 1'795'205'614'000'000;
  report.times.to_us = 1'795'209'214'000'000;
  report.times.ended = true;
  report.usage.rows = {{"n1", "gpu_util_percent", 10, 99, 98, 88, 60, 41, 0}};
  report.diagnosis = {{"sentence", "Most was lost."},
                      {"threshold", 10},
                      {"missing", {"No GPU clock."}},
                      {"budget",
                       {Cause("busy", 0.26), Cause("preprocessing", 0.63), Cause("storage", 0.11),
                        Cause("evaluation", 0.02)}}};
  return report;
}

std::size_t Lines(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

TEST(Card, TellsTheStoryInFewShortLines) {
  const std::string card = ToCard(Sample());
  EXPECT_NE(card.find("resnet-42  Completed, 1 h 00 min"), std::string::npos) << card;
  EXPECT_NE(card.find("1 node, 8 GPUs (NVIDIA A100), group nightly"), std::string::npos) << card;
  EXPECT_NE(card.find("GPU         [##########..............] half within 41.0 %"),
            std::string::npos)
      << card;
  EXPECT_NE(card.find("CPU         not measured"), std::string::npos) << card;
  EXPECT_NE(card.find("63.0 % of the training's time was lost to preprocessing."),
            std::string::npos)
      << card;
  EXPECT_NE(card.find("Then 11.0 % to storage."), std::string::npos) << card;
  EXPECT_EQ(card.find("evaluation"), std::string::npos) << "below the threshold";
  EXPECT_NE(card.find("Not seen: No GPU clock."), std::string::npos) << card;
  EXPECT_NE(card.find("\n  Do: Use more"), std::string::npos) << card;
  EXPECT_LE(Lines(card), 25u) << card;
  for (const std::string_view line : Split(card, '\n')) EXPECT_LE(line.size(), 78u) << line;
}

TEST(Card, AJobWithoutAnythingSaysSo) {
  Report report;
  report.job.name = "none";
  report.diagnosis = {{"sentence", "the job is not judged"},
                      {"budget", OrderedJson::array()},
                      {"threshold", nullptr}};
  const std::string card = ToCard(report);
  EXPECT_NE(card.find("Steps       none seen"), std::string::npos) << card;
  EXPECT_NE(card.find("the job is not judged"), std::string::npos) << card;
  EXPECT_EQ(card.find("GPU"), std::string::npos) << card;
}

TEST(Card, TextFromOutsideMovesNoCursor) {
  Report report = Sample();
  report.job.group = "\x1b[2Jgroup";
  report.nodes.front().gpu_name = std::string(500, 'x') + "\n\a";
  report.diagnosis["missing"] = {"\x1b]0;title\a"};
  const std::string card = ToCard(report);
  for (const char letter : card)
    EXPECT_TRUE(letter == '\n' || letter < 0 || letter >= ' ') << int(letter);
}

TEST(Card, TimeThatNothingExplainsIsNotCalledLost) {
  Report report = Sample();
  report.diagnosis["budget"] = {Cause("busy", 0.2), Cause("unknown", 0.5), Cause("storage", 0.3)};
  const std::string card = ToCard(report);
  EXPECT_NE(card.find("Nothing explains 50.0 % of the training's time."), card.npos) << card;
  EXPECT_NE(card.find("30.0 % of the training's time was lost to storage."), card.npos) << card;
}

}  // namespace
}  // namespace stepscope
