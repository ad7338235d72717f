#pragma once

// Reports of made jobs, stored in a real database and judged by the real rules.

#include "server/report/page/report.h"
#include "tests/server/evaluate/evaluation_fixture.h"

namespace stepscope::scenarios {

inline const std::string kUrl = "https://stepscope.example";

class ReportTest : public Evaluation {
 protected:
  // Two nodes with eight GPUs each, and a rank for each GPU; 900 s. GPU 3 of node-1 does nothing.
  static Scenario SixteenGpus() {
    Scenario scenario;
    scenario.nodes = 2;
    scenario.gpus = 8;
    scenario.cores = 16;
    scenario.stretches = {
        {600, 20, 95, 30, 5, 8}, {400, 85, 60, 20, 0, 10}, {800, 45, 97, 40, 8, 30}};
    for (int rank = 0; rank < 16; ++rank) {
      scenario.ranks.push_back({310s, 1'800, 300ms, 25.0 + rank, 15, 5});
    }
    scenario.extras = {
        {{"gpu_util_percent", "3"},
         [](std::size_t node, std::size_t tick) {
           return std::optional<double>(node == 1 ? 0.0 : 40.0 + double(tick % 50));
         }},
        {{"memory_used_percent", ""},
         [](std::size_t node, std::size_t tick) {
           return std::optional<double>(30.0 + 5.0 * double(node) + double(tick) / 40);
         }},
        {{"network_send_bytes_per_second", "eth0"}, [](std::size_t, std::size_t tick) {
           return std::optional<double>(1e6 + 2e8 * double(tick % 120 < 10));
         }}};
    for (int gpu = 0; gpu < 8; ++gpu) {
      scenario.extras.push_back({{"gpu_memory_used_percent", std::to_string(gpu)},
                                 [gpu](std::size_t, std::size_t tick) -> std::optional<double> {
                                   if (tick > 900 && tick < 1'000)
                                     return std::nullopt;  // a gap in the picture
                                   return 20.0 + 2.0 * gpu + (tick > 1'200 ? 15.0 : 0.0);
                                 }});
    }
    return scenario;
  }

  // Stores the job, and evaluates all rules until they have seen all of it.
  std::int64_t Judge(const Job& job, bool ended, const std::string& name = "train") {
    StoredJob stored(*connection_, job, Json::object(), name);
    stored.StoreUntil(Time::max());
    if (ended) stored.EndJob();
    for (int turn = 0; turn < 20; ++turn) EvaluateAll(stored.job_id(), After(9'100), "");
    return stored.job_id();
  }
  Report Gather(const std::string& name = "train", double now_s = 950) {
    Result<Report> report =
        GatherReport(*connection_, {name, kUrl, "1.2.3", ToMicros(After(now_s))});
    EXPECT_TRUE(report.ok()) << report.error().message;
    return std::move(*report);
  }
  // Runs a statement with bound parameters, for tests of text from outside.
  void Run(const std::string& sql, std::initializer_list<Parameter> parameters = {}) {
    const auto done = connection_->Query(sql, parameters);
    EXPECT_TRUE(done.ok()) << done.error().message;
  }
};

inline const RuleSection* Find(const Report& report, std::string_view rule) {
  const auto found = std::ranges::find(report.rules, rule, &RuleSection::rule);
  return found == report.rules.end() ? nullptr : &*found;
}

}  // namespace stepscope::scenarios
