#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/model/metric.h"
#include "core/model/table.h"

namespace stepscope {

// Samples as a training cluster has them: cores in steps of a jiffy, GPUs in whole percent, memory
// in pages, rates that rest, smooth noise, constants. How well they compress decides what a
// benchmark of the store says, so noise is where real machines have it and nowhere else.

enum class Course { kConstant, kCore, kSmooth, kPages, kBursts };

// The course of a metric's values, at the metric's scale.
struct Shape {
  std::string_view metric;
  Course course = Course::kSmooth;
  std::int64_t centre = 0, spread = 0;  // values stay within centre +- spread
  std::int64_t grain = 1;               // values are multiples of this
};

// The metrics that the goals are set for: two of each core, six of each GPU. Metrics that agents
// send since then are not among them, so figures can be compared over time.
std::vector<Metric> SampledMetrics();

class SampledSeries {
 public:
  SampledSeries(const Metric& metric, std::mt19937_64& random);

  std::int64_t Next();
  std::uint8_t scale() const { return scale_; }
  Course course() const { return shape_.course; }

 private:
  std::int64_t Below(std::int64_t end);  // a random number from 0 on
  bool Chance(std::int64_t one_in) { return Below(one_in) == 0; }
  std::int64_t NextCore();
  std::int64_t NextSmooth();

  std::mt19937_64& random_;
  Shape shape_;
  std::uint8_t scale_;
  std::int64_t value_, target_;
};

}  // namespace stepscope
