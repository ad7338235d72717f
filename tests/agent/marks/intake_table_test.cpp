#include <gtest/gtest.h>

#include "agent/marks/marks_table.h"

namespace stepscope {
namespace {

TEST(StepsTable, HasAColumnForEachPhase) {
  Step step{7, FromMicros(1'000'000), 90ms, {}};
  step.phases[static_cast<std::size_t>(Phase::kBackward)] = 30ms;
  const std::vector<Step> steps = {step, step};

  const MarksTable marks = StepsTable(3, steps);

  EXPECT_EQ(marks.schema.rank, 3);
  EXPECT_EQ(marks.table.rows, 2u);
  ASSERT_EQ(marks.schema.columns.size(), 13u);
  ASSERT_EQ(marks.table.columns.size(), 13u);
  EXPECT_EQ(marks.schema.columns[1].metric, "start_us");
  EXPECT_EQ(marks.table.columns[1].values[1], 1'000'000);
  EXPECT_EQ(marks.table.columns[2].values[0], 90'000'000);
  EXPECT_EQ(marks.schema.columns[7].metric, "backward");
  EXPECT_EQ(marks.table.columns[7].values[0], 30'000'000);
}

TEST(AnnotationsTable, PutsNamesIntoTheSchema) {
  const std::vector<AnnotationStatistic> rows = {{"augment", 10, 20, 2, 30, 5, 25},
                                                 {"collate", 11, 21, 1, 7, 7, 7}};

  const MarksTable marks = AnnotationsTable(0, rows);

  EXPECT_EQ(marks.schema.names, (std::vector<std::string>{"augment", "collate"}));
  ASSERT_EQ(marks.table.columns.size(), 7u);
  EXPECT_EQ(marks.table.columns[0].values, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(marks.schema.columns[4].metric, "sum_ns");
  EXPECT_EQ(marks.table.columns[4].values, (std::vector<std::int64_t>{30, 7}));
}

}  // namespace
}  // namespace stepscope
