#include "bench/steps.h"

namespace stepscope {

SampledSteps::SampledSteps(std::int32_t rank, std::int64_t step_us, std::int64_t begin_us)
    : random_(static_cast<std::uint64_t>(rank)), step_us_(step_us), next_us_(begin_us) {
  schema_.rank = rank;
  for (const char* column :
       {"step", "start_us", "wall_ns", "data", "forward", "backward", "optimizer"}) {
    schema_.columns.push_back({column, ""});
  }
}

Table SampledSteps::Until(std::int64_t at_us) {
  const auto below = [this](std::int64_t end) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(end));
  };
  Table table;
  table.columns.resize(schema_.columns.size());
  while (true) {
    const std::int64_t step_ns = step_us_ * 1000;
    const std::int64_t data = step_ns / 20 + below(step_ns / (below(50) == 0 ? 2 : 50));
    const std::int64_t forward = step_ns / 4 + below(step_ns / 100);
    const std::int64_t backward = step_ns / 2 + below(step_ns / 50);
    const std::int64_t optimizer = step_ns / 10 + below(step_ns / 200);
    const std::int64_t wall = data + forward + backward + optimizer + below(step_ns / 100);
    if (next_us_ + wall / 1000 > at_us) return table;
    const std::int64_t row[] = {number_++, next_us_, wall, data, forward, backward, optimizer};
    for (std::size_t i = 0; i < std::size(row); ++i) table.columns[i].values.push_back(row[i]);
    next_us_ += wall / 1000;
    ++table.rows;
  }
}

}  // namespace stepscope
