// Sliding percentiles of percentages: samples a second on one core, for the window and the scans of
// LowGPUUtilization. Prints one line of JSON: the median of nine runs with the fastest and slowest.

#include <algorithm>
#include <chrono>
#include <random>
#include <vector>

#include "core/base/text.h"
#include "rules/statistics.h"

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

double MillionsASecond(const std::vector<std::uint16_t>& samples, double& sum) {
  stepscope::SlidingPercentiles sliding(kWindow);
  const auto start = std::chrono::steady_clock::now();
  std::size_t scan = kScanEvery;
  for (const std::uint16_t sample : samples) {
    sliding.Add(sample);
    if (--scan > 0) continue;
    scan = kScanEvery;
    for (const double share : kShares) sum += sliding.Percentile(share);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return static_cast<double>(samples.size()) / took.count() / 1e6;
}

}  // namespace

int main() {
  const auto samples = MakeSamples();
  std::vector<double> runs;
  double sum = 0;
  for (int i = 0; i < 9; ++i) runs.push_back(MillionsASecond(samples, sum));
  std::ranges::sort(runs);
  fmt::print(
      "{{\"name\": \"rules_percentile\", \"unit\": \"million samples/s\", \"median\": {:.1f}, "
      "\"min\": {:.1f}, \"max\": {:.1f}, \"checksum\": {:.2f}}}\n",
      runs[4], runs.front(), runs.back(), sum);
}
