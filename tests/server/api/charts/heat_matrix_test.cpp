#include "server/api/charts/heat_matrix.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(SortRows, CountAsPeopleDo) {
  std::vector<HeatRow> rows;
  for (const auto& [node, device] : std::vector<std::pair<std::string, std::string>>{
           {"n10", ""}, {"n9", "10"}, {"n9", "2"}, {"n9", "02"}, {"n9", ""}, {"a-007-b", "x"}}) {
    rows.push_back({node, device, {}});
  }
  SortRows(rows);
  std::string order;
  for (const HeatRow& row : rows) order += row.node + "/" + row.device + " ";
  EXPECT_EQ(order, "a-007-b/x n9/ n9/02 n9/2 n9/10 n10/ ");
}

TEST(HeatMatrix, LeadsFromTheLeastToTheGreatestAndLeavesGapsOut) {
  const HeatMatrix matrix = ToMatrix({{"a", "", {10, 60}}, {"b", "", {std::nullopt, 110}}});
  EXPECT_EQ(matrix.low, 10);
  EXPECT_EQ(matrix.high, 110);
  EXPECT_EQ(matrix.bytes, std::string("\x00\x7f\xff\xfe", 4));
}

TEST(HeatMatrix, EqualValuesAreLow) {
  const HeatMatrix matrix = ToMatrix({{"a", "", {-3, -3}}});
  EXPECT_EQ(matrix.low, -3);
  EXPECT_EQ(matrix.high, -3);
  EXPECT_EQ(matrix.bytes, std::string(2, '\0'));
  EXPECT_EQ(ToMatrix({}).bytes, "");
}

}  // namespace
}  // namespace stepscope
