#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rules/engine/rule.h"

namespace stepscope {

// The newest earlier runs of a job's group that had the job's setup. The runs are those that the
// job had when its rule began; the setup is that of the ranks that are known now.
class AlikeRuns {
 public:
  explicit AlikeRuns(const JobFacts& facts);

  // Median steps in seconds, newest first; at most three.
  const std::vector<double>& steps() const { return steps_; }
  // The middle of them; 0 of none.
  double Middle() const;
  std::size_t left_out() const { return runs_.size() - steps_.size(); }
  const std::string& setup() const { return setup_; }
  // Why no earlier run is compared with, in a sentence; "" where one is, or where there is none.
  std::string WhyNone() const;

  template <typename State>
  void Fields(State& state) {
    state("runs", runs_, [] { return Run(); });
    Choose();
  }

 private:
  struct Run {
    double step_s = 0;
    std::string setup;

    template <typename State>
    void Fields(State& state) {
      state("step_s", step_s);
      state("setup", setup);
    }
  };
  void Choose();

  std::string setup_;
  std::map<std::int64_t, Run, std::less<>> runs_;  // by age, the newest first
  std::vector<double> steps_;
};

}  // namespace stepscope
