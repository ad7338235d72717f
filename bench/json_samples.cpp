// Samples from JSON: the reader of POST /jobs/{name}/samples, which builds columns as it goes,
// against the tree that all other bodies become, once only built and once walked into the same
// columns; and the whole way to frames. A body of 4 MB: 8 GPUs with 6 metrics. Prints the median of
// nine rounds, in which the contenders take turns, with the slowest and fastest.

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>

#include "core/base/json.h"
#include "core/base/text.h"
#include "server/ingest/check/read_samples.h"
#include "server/ingest/check/sample_frames.h"

namespace stepscope {
namespace {

constexpr int kRounds = 9, kSeries = 48, kRows = 17'000;
constexpr JsonLimits kLimits{.bytes = kMaxPushBytes, .depth = 32, .values = 2'000'000};

std::string MakeBody() {
  std::mt19937 random(1);
  std::string body = R"({"node":"train-7","times_us":[)";
  for (int row = 0; row < kRows; ++row) {
    body += Format("{}{}", row ? "," : "", 1'795'205'614'000'000 + row * 500'000LL);
  }
  body += R"(],"series":[)";
  for (int i = 0; i < kSeries; ++i) {
    body += Format(R"({}{{"metric":"user.m{}","device":"gpu{}","values":[)", i ? "," : "", i / 8,
                   i % 8);
    for (int row = 0; row < kRows; ++row) {
      if (row) body += ',';
      if (i % 3 == 0) body += Format("{}", 90 + random() % 10);
      if (i % 3 != 0) body += Format("{:.1f}", 55 + static_cast<double>(random() % 400) / 10);
    }
    body += "]}";
  }
  return body + "]}";
}

std::size_t CountIn(const Samples& samples) {
  return samples.series.size() * samples.times_us.size();
}

std::size_t ReadInOnePass(const std::string& body) {
  return CountIn(std::get<Samples>(ReadSamples(body)));
}

std::size_t BuildTree(const std::string& body) {
  return ParseJson(body, kLimits)->at("series").size() * kRows;
}

std::size_t WalkTree(const std::string& body) {
  const Json json = *ParseJson(body, kLimits);
  Samples samples;
  samples.node = json["node"];
  samples.times_us = json["times_us"].get<std::vector<std::int64_t>>();
  for (const Json& one : json["series"]) {
    Samples::Series& series = samples.series.emplace_back();
    series.name = {one["metric"], one["device"]};
    for (const Json& value : one["values"]) {
      series.values.push_back(value.is_null() ? 0 : value.get<double>());
      series.present.push_back(value.is_null() ? 0 : 1);
    }
  }
  return CountIn(samples);
}

std::size_t MakeFrames(const std::string& body) {
  const Samples samples = std::get<Samples>(ReadSamples(body));
  return ToFrames(samples).empty() ? 0 : CountIn(samples);
}

struct Contender {
  const char* name;
  std::size_t (*run)(const std::string&);
  std::vector<double> millions = {};  // millions of samples a second
};

void Run(Contender& contender, const std::string& body) {
  const auto start = std::chrono::steady_clock::now();
  const std::size_t samples = contender.run(body);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  contender.millions.push_back(static_cast<double>(samples) / took.count() / 1e6);
}

}  // namespace
}  // namespace stepscope

int main() {
  using namespace stepscope;
  const std::string body = MakeBody();
  Contender contenders[] = {{"one_pass", ReadInOnePass},
                            {"tree", BuildTree},
                            {"tree_walked", WalkTree},
                            {"one_pass_and_frames", MakeFrames}};
  for (int round = 0; round < kRounds; ++round) {
    for (Contender& contender : contenders) Run(contender, body);
  }
  for (Contender& contender : contenders) {
    std::ranges::sort(contender.millions);
    fmt::print(
        "{{\"name\": \"json_samples.{}\", \"unit\": \"million samples/s\", \"median\": {:.2f}, "
        "\"min\": {:.2f}, \"max\": {:.2f}, \"body_bytes\": {}}}\n",
        contender.name, contender.millions[kRounds / 2], contender.millions.front(),
        contender.millions.back(), body.size());
  }
}
