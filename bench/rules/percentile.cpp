// Sliding percentiles of percentages: samples a second of CPU time, for the window and the scans of
// LowGPUUtilization; with --sort by sorting a copy of the window at each scan. One line of JSON.

#include <algorithm>
#include <cmath>
#include <random>
#include <string_view>
#include <vector>

#include "core/base/cpu_time.h"
#include "core/base/text.h"
#include "rules/stats/statistics.h"

namespace {

constexpr std::size_t kSamples = 20'000'000, kWindow = 500, kScanEvery = 120;
constexpr double kShares[] = {0.05, 0.50, 0.95};

// A GPU that works, waits and works again, with noise.
std::vector<std::uint16_t> MakeSamples() {
  std::mt19937 random(1);
  std::vector<std::uint16_t> samples(kSamples);
  for (std::size_t i = 0; i < kSamples; ++i) {
    const unsigned busy = i / 1000 % 3 == 0 ? 800 : 9'000;
    samples[i] = static_cast<std::uint16_t>(busy + random() % 1'000);
  }
  return samples;
}

double SumByHistogram(const std::vector<std::uint16_t>& samples) {
  stepscope::SlidingPercentiles sliding(kWindow);
  double sum = 0;
  std::size_t scan = kScanEvery;
  for (const std::uint16_t sample : samples) {
    sliding.Add(sample);
    if (--scan > 0) continue;
    scan = kScanEvery;
    for (const double share : kShares) sum += sliding.Percentile(share);
  }
  return sum;
}

double SumBySort(const std::vector<std::uint16_t>& samples) {
  double sum = 0;
  for (std::size_t end = kScanEvery; end <= samples.size(); end += kScanEvery) {
    const std::size_t size = std::min(end, kWindow);
    std::vector<std::uint16_t> window(samples.begin() + static_cast<std::ptrdiff_t>(end - size),
                                      samples.begin() + static_cast<std::ptrdiff_t>(end));
    std::ranges::sort(window);
    for (const double share : kShares) {
      const double rank = std::ceil(share * static_cast<double>(size));
      sum += stepscope::BinPercent(window[static_cast<std::size_t>(rank) - 1]);
    }
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const bool sort = argc > 1 && std::string_view(argv[1]) == "--sort";
  const auto samples = MakeSamples();
  const stepscope::Duration began = stepscope::ThreadCpuTime();
  const double sum = sort ? SumBySort(samples) : SumByHistogram(samples);
  const double rate = static_cast<double>(samples.size()) /
                      stepscope::ToSeconds(stepscope::ThreadCpuTime() - began);
  fmt::print("{{\"samples_per_second\": {:.0f}, \"sum\": {:.2f}}}\n", rate, sum);
}
