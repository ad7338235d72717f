#include "server/report/text/natural_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace stepscope {
namespace {

TEST(NaturalOrder, CountsAsPeopleDo) {
  const std::vector<std::string> sorted = {"",
                                           "7",
                                           "gpu0",
                                           "gpu9",
                                           "gpu10",
                                           "node-0",
                                           "node-1",
                                           "node-2",
                                           "node-2-a",
                                           "node-10",
                                           "node-10-1",
                                           "node-10-9",
                                           "node-10-10",
                                           "node-a",
                                           "rack-02",
                                           "rack-2",
                                           "rack-99999999999999999999",
                                           "rack-100000000000000000000"};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t j = 0; j < sorted.size(); ++j) {
      EXPECT_EQ(IsBefore(sorted[i], sorted[j]), i < j) << sorted[i] << " and " << sorted[j];
    }
  }
}

}  // namespace
}  // namespace stepscope
