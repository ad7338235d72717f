// The agent's intake as a program, for tests of the Python package: listens on the given path,
// drains for each line of standard input and answers with one line of JSON, with the metrics. "ask
// COMMAND" or "ask COMMAND|ARGUMENT" first sends the command to all processes. Ends with its input.

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <string>

#include "agent/marks/intake.h"
#include "core/base/json.h"

namespace {

using stepscope::Json;

Json ToJson(const stepscope::Step& step) {
  Json phases = Json::object();
  for (std::size_t i = 0; i < stepscope::kPhaseCount; ++i) {
    const auto phase = static_cast<stepscope::Phase>(i);
    if (step.phase(phase).count() > 0) {
      phases[std::string(ToText(phase))] = step.phase(phase).count();
    }
  }
  return {{"step", step.number},
          {"start_us", stepscope::ToMicros(step.start)},
          {"wall_ns", step.wall.count()},
          {"phases", phases}};
}

Json ToJson(const stepscope::RankMarks& marks) {
  Json steps = Json::array(), annotations = Json::object();
  for (const auto& step : marks.steps) steps.push_back(ToJson(step));
  for (const auto& row : marks.annotations) {
    const Json before = annotations.value(row.name, Json::object());
    const auto sum = [&](const char* key, std::int64_t n) { return before.value(key, 0LL) + n; };
    const auto least = [&](const char* key, std::int64_t n) {
      return std::min<std::int64_t>(before.value(key, n), n);
    };
    const auto most = [&](const char* key, std::int64_t n) {
      return std::max<std::int64_t>(before.value(key, n), n);
    };
    annotations[row.name] = {
        {"count", sum("count", row.count)},         {"sum_ns", sum("sum_ns", row.sum_ns)},
        {"min_ns", least("min_ns", row.min_ns)},    {"max_ns", most("max_ns", row.max_ns)},
        {"from_us", least("from_us", row.from_us)}, {"to_us", most("to_us", row.to_us)}};
  }
  return {{"rank", marks.rank}, {"steps", steps}, {"annotations", annotations}};
}

Json ToJson(const std::vector<stepscope::RankMetric>& metrics) {
  Json json = Json::array();
  for (const auto& said : metrics)
    json.push_back({{"rank", said.rank}, {"metric", said.metric}, {"value", said.value}});
  return json;
}

Json ToJson(const stepscope::RankTrace& trace) {
  const stepscope::MarkTrace& said = trace.said;
  std::string text(64 * 1024 * 1024, '\0');
  const auto got = pread(trace.file.get(), text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return {{"rank", trace.rank},      {"window", said.window},      {"first", said.first_step},
          {"steps", said.steps},     {"start_us", said.start_us},  {"stop_us", said.stop_us},
          {"save_us", said.save_us}, {"note", said.note},          {"text", text},
          {"by", said.by},           {"slower_us", said.slower_us}};
}

Json ToJson(const stepscope::IntakeBatch& batch) {
  Json started = Json::array(), marks = Json::array(), ended = Json::array();
  for (const auto& rank : batch.rank_started) {
    started.push_back({{"rank", rank.rank}, {"facts", *stepscope::ParseJson(rank.facts)}});
  }
  for (const auto& rank : batch.marks) marks.push_back(ToJson(rank));
  for (const auto& rank : batch.rank_ended) ended.push_back(rank.rank);
  Json traces = Json::array();
  for (const auto& trace : batch.traces) traces.push_back(ToJson(trace));
  return {{"started", started}, {"marks", marks}, {"ended", ended}, {"traces", traces}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const stepscope::SystemClock clock;
  stepscope::IntakeOptions options;
  options.socket_path = argv[1];
  const auto intake = stepscope::Intake::Start(options, clock);
  if (!intake) {
    std::cerr << intake.error().message << "\n";
    return 1;
  }
  std::cout << "listening" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::size_t told = 0;
    const std::size_t bar = line.find('|');
    const std::string argument = bar == line.npos ? "by a test" : line.substr(bar + 1);
    if (line.starts_with("ask ")) {
      told = intake.value()->Ask("", line.substr(4, bar == line.npos ? bar : bar - 4), argument);
    }
    Json batch = ToJson(intake.value()->Drain());
    batch["told"] = told;
    batch["metrics"] = ToJson(intake.value()->TakeMetrics());
    std::cout << stepscope::Dump(batch) << std::endl;
  }
  return 0;
}
