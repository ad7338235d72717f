#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string_view>

#include "agent/collect/collector.h"
#include "tests/support/fake_root.h"

namespace stepscope::test {

// Runs one collector of a root, at times that the test chooses.
struct CollectorBench {
  template <typename Make>
  CollectorBench(Make make, const FakeRoot& root) {
    auto made = make(root.path(), row);
    EXPECT_TRUE(made.ok()) << made.error().message;
    if (made) collector = std::move(*made);
  }
  Status At(Duration since_start) {
    row.Clear();
    return collector->Collect(SteadyTime{1h} + since_start, row);
  }
  bool Missing(std::string_view metric, std::string_view device = "") const {
    return std::isnan(row.At(metric, device));
  }

  TickRow row;
  std::unique_ptr<Collector> collector;
};

}  // namespace stepscope::test
