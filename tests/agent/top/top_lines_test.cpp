#include "agent/top/top_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/text.h"

namespace stepscope {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

LiveRank Rank(int number) {
  LiveRank rank{.rank = number, .pid = 4711, .step = 99, .at = FromMicros(1'800'000'000'000'000)};
  rank.wall = 20ms;
  rank.phases[static_cast<std::size_t>(Phase::kForward)] = 5ms;
  rank.phases[static_cast<std::size_t>(Phase::kData)] = 15ms;
  return rank;
}

TopView View(std::size_t cores = 4) {
  TopView view{.node = "gpu-07", .at = FromMicros(1'800'000'001'000'000)};
  view.cpu_percent = 50;
  view.memory_used = 32.0 * (1 << 30);
  view.memory_total = 64.0 * (1 << 30);
  for (std::size_t i = 0; i < cores; ++i) view.core_percents.push_back(i % 2 == 0 ? 100 : 0);
  view.gpus.push_back({"gpu0", 98, 4e10, 8e10, 650, 71});
  view.disks.push_back({"sda", 1048576, 0, 12});
  view.networks.push_back({"eth0", 100, 200});
  view.jobs.push_back({"bert", {Rank(0), Rank(1)}, 0});
  return view;
}

std::size_t Places(const std::string& line) {
  std::size_t places = 0;
  for (const char c : line) places += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return places;
}

TEST(TopLines, ShowTheNodeAndItsJobs) {
  const auto lines = LinesOf(View(), {});

  EXPECT_THAT(lines[0], HasSubstr("gpu-07"));
  EXPECT_THAT(lines, Contains(HasSubstr("0 [####]100 %")));
  EXPECT_THAT(lines,
              Contains(HasSubstr("gpu0    [##########]  98 %  37.3 GiB of 74.5 GiB  650 W  71 C")));
  EXPECT_THAT(lines, Contains(HasSubstr("memory  [#####     ]  50 %  32.0 GiB of 64.0 GiB")));
  EXPECT_THAT(lines,
              Contains(HasSubstr("disk sda          read 1.0 MiB/s  write 0 B/s  busy  12 %")));
  EXPECT_THAT(lines, Contains("job bert  2 ranks"));
  EXPECT_THAT(lines, Contains("     1    4711        99   20.0 ms  data 75 % forward 25 %"));
}

TEST(TopLines, FitAnyWidth) {
  for (const std::size_t columns : {20u, 40u, 80u, 200u}) {
    for (const bool unicode : {false, true}) {
      for (const std::string& line : LinesOf(View(64), {.columns = columns, .unicode = unicode})) {
        EXPECT_LE(Places(line), columns) << line;
      }
    }
  }
}

TEST(TopLines, FoldCoresThatAreMoreThanFit) {
  const auto lines = LinesOf(View(192), {.columns = 80, .rows = 24});

  EXPECT_THAT(lines[1], HasSubstr("0-5 [##  ] 50 %"));
  EXPECT_LE(lines.size(), 24u);
  EXPECT_THAT(lines, Contains(HasSubstr("job bert")));
}

// A DGX with a rank on each GPU.
TopView LargeView() {
  TopView view = View(192);
  view.gpus.clear();
  view.jobs = {{"bert", {}, 0}};
  for (int i = 0; i < 8; ++i) {
    view.gpus.push_back({Format("gpu{}", i), 98, 4e10, 8e10, 650, 71});
    view.jobs[0].ranks.push_back(Rank(i));
    view.disks.push_back({Format("nvme{}n1", i), 100.0 * i, 0, 12});
    view.networks.push_back({Format("eth{}", i), 100, 200.0 * i});
  }
  return view;
}

std::size_t Count(const std::vector<std::string>& lines, std::string_view start) {
  return static_cast<std::size_t>(std::ranges::count_if(
      lines, [&](const std::string& line) { return line.starts_with(start); }));
}

TEST(TopLines, LeaveRoomForTheRanksOfALargeNode) {
  const auto lines = LinesOf(LargeView(), {.columns = 80, .rows = 24});

  EXPECT_LE(lines.size(), 24u);
  EXPECT_EQ(Count(lines, "gpu"), 9u) << "the node's line is one";
  for (int rank = 0; rank < 8; ++rank) {
    EXPECT_THAT(lines, Contains(testing::StartsWith(Format("  {:>4}    4711", rank))));
  }
  EXPECT_THAT(lines[1], HasSubstr("0-47 [##  ] 50 %")) << "cores are folded more";
  EXPECT_THAT(lines, Contains(testing::AllOf(testing::StartsWith("disk sda"),
                                             testing::EndsWith("and 8 more"))))
      << "the busiest one stands for all";
}

TEST(TopLines, TakeTheRoomThatRanksLeave) {
  TopView view = LargeView();
  view.jobs[0].ranks.resize(2);
  const auto lines = LinesOf(view, {.columns = 80, .rows = 24});
  EXPECT_EQ(lines.size(), 24u);
  EXPECT_EQ(Count(lines, "disk") + Count(lines, "net"), 6u);
}

TEST(TopLines, SayHowMuchOfThemIsNotShown) {
  for (std::size_t rows = 2; rows < 30; ++rows) {
    TopView view = LargeView();
    for (int i = 8; i < 40; ++i) view.jobs[0].ranks.push_back(Rank(i));
    const auto lines = LinesOf(view, {.columns = 80, .rows = rows});
    ASSERT_EQ(lines.size(), rows);
    EXPECT_THAT(lines[0], HasSubstr("gpu-07"));
    EXPECT_THAT(lines.back(), testing::EndsWith("more lines"));
  }
  const auto lines = LinesOf(LargeView(), {.columns = 80, .rows = 16});
  EXPECT_EQ(Count(lines, "gpu"), 5u) << "the node's line, and a quarter of the rows";
  EXPECT_THAT(lines, Contains(testing::AllOf(HasSubstr("gpu3 "), HasSubstr("and 4 more"))));
  EXPECT_THAT(lines, Contains(testing::StartsWith("     2    4711")));
  EXPECT_EQ(lines.back(), "  5 more lines");
}

TEST(TopLines, AreAsciiUnlessTheTerminalSpeaksUtf8) {
  const auto ascii = [](const std::string& line) {
    return std::ranges::all_of(line, [](char c) { return c >= ' ' && c <= '~'; });
  };
  EXPECT_TRUE(std::ranges::all_of(LinesOf(View(), {}), ascii));
  EXPECT_THAT(LinesOf(View(), {.unicode = true}), Contains(HasSubstr("█")));
}

TEST(TopLines, HaveColourOnlyWhenAsked) {
  EXPECT_THAT(LinesOf(View(), {}), Each(Not(HasSubstr("\x1b"))));
  EXPECT_THAT(LinesOf(View(), {.colour = true}), Contains(HasSubstr("\x1b[31m##########\x1b[0m")));
}

TEST(TopLines, ACutNeverLeavesAColourOn) {
  for (std::size_t columns = 1; columns < 30; ++columns) {
    for (const std::string& line : LinesOf(View(), {.columns = columns, .colour = true})) {
      const std::size_t last = line.rfind('\x1b');
      EXPECT_TRUE(last == line.npos || line.substr(last, 4) == "\x1b[0m") << columns;
    }
  }
}

TEST(TopLines, NamesFromOutsideAreOnlyText) {
  TopView view = View();
  view.jobs[0].job = "\x1b[2Jä\n";
  view.gpus[0].name = "\x07";
  view.networks[0].name = "\xff\xfe";

  EXPECT_THAT(LinesOf(view, {}), Each(Not(HasSubstr("\x1b"))));
  for (const std::string& line : LinesOf(view, {})) {
    EXPECT_TRUE(std::ranges::all_of(line, [](char c) { return c >= ' ' && c <= '~'; })) << line;
  }
}

TEST(TopLines, SayWhatIsNotKnown) {
  TopView view{.node = "n"};
  view.remark = "No job runs here.";
  view.gpus.push_back({"gpu0"});
  view.jobs.push_back({"new", {LiveRank{.rank = 3}}, 7});
  const auto lines = LinesOf(view, {});

  EXPECT_THAT(lines, Contains(HasSubstr("gpu0    [          ]   - %  - of -")));
  EXPECT_THAT(lines, Contains("No job runs here."));
  EXPECT_THAT(lines, Contains(HasSubstr("no step yet")));
  EXPECT_THAT(lines, Contains("  7 more ranks"));
}

TEST(TopLines, SayWhenARankStands) {
  TopView view = View();
  view.at += 60s;

  EXPECT_THAT(LinesOf(view, {}), Contains(HasSubstr("(none for 61 s)")));
}

}  // namespace
}  // namespace stepscope
