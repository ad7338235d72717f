// The cost of a rule: samples and steps a second on one core when a whole job is folded, and the
// CPU time of one evaluation (state read, two seconds of data, judged, state written) of a job that
// is an hour old, and of one that is a day old. One line of JSON for each rule.

#include <iostream>

#include "bench/rules/training_hour.h"
#include "core/base/cpu_time.h"
#include "core/base/json.h"
#include "core/base/options.h"
#include "core/base/text.h"
#include "rules/catalog/catalog.h"

namespace stepscope {
namespace {

constexpr Duration kHour = 3600s, kSlot = 2s;
constexpr int kHours = 24, kEvaluations = 200;

constexpr Option kOptions[] = {{"--rule", "NAME", "", "Only this one; all of them without it."}};
class RuleCost {
 public:
  explicit RuleCost(const RuleType& rule)
      : rule_(rule),
        params_(*Params::Read(rule.name, rule.params, Json::object(), facts_.interval)),
        hour_(rule) {}

  OrderedJson Measure() {
    const auto fold = rule_.make(params_, facts_);
    const double first = FoldHour(*fold, 0);
    const double young = EvaluationSeconds(fold->Save(), 1);
    double folded = first;
    for (int age = 1; age < kHours; ++age) folded += FoldHour(*fold, age);
    const std::string state = fold->Save();
    const double old = EvaluationSeconds(state, kHours);
    const double rows = kHours / folded;
    return {{"rule", rule_.name},
            {"samples_per_second", rows * static_cast<double>(hour_.samples())},
            {"steps_per_second", rows * static_cast<double>(hour_.steps())},
            {"evaluation_us_1h", 1e6 * young},
            {"evaluation_us_24h", 1e6 * old},
            {"state_bytes_24h", state.size()}};
  }

 private:
  double FoldHour(Fold& fold, int age) {
    hour_.MoveTo(age * kHour);
    const Duration began = ThreadCpuTime();
    hour_.ShowAll(fold);
    return ToSeconds(ThreadCpuTime() - began);
  }

  // The CPU time of an evaluation of a job that is `age` hours old.
  double EvaluationSeconds(const std::string& saved, int age) {
    hour_.MoveTo(age * kHour);
    std::string state = saved;
    const Duration began = ThreadCpuTime();
    for (int i = 0; i < kEvaluations; ++i) {
      const auto fold = rule_.make(params_, facts_);
      if (!fold->Load(state).ok()) std::abort();
      hour_.Show(age * kHour + i * kSlot, kSlot, *fold);
      verdict_bytes_ += Dump(fold->Judge().evidence).size();
      state = fold->Save();
    }
    return ToSeconds(ThreadCpuTime() - began) / kEvaluations;
  }

  const RuleType& rule_;
  const JobFacts facts_ = TrainingHour::Facts();
  const Params params_;
  TrainingHour hour_;
  std::size_t verdict_bytes_ = 0;  // keeps the compiler from removing the judging
};

int Main(std::span<const char* const> words) {
  const auto arguments = ParseArguments(kOptions, words);
  if (!arguments) {
    std::cerr << arguments.error().message << "\n";
    return 2;
  }
  const std::string& only = (*arguments)["--rule"];
  for (const RuleType& rule : Catalog()) {
    if (only.empty() || only == rule.name) std::cout << RuleCost(rule).Measure() << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace stepscope

int main(int argc, char** argv) {
  return stepscope::Main(
      std::span<const char* const>(argv + 1, static_cast<std::size_t>(argc - 1)));
}
