#include "rules/stats/envelope.h"

#include <algorithm>
#include <array>

#include "rules/engine/packing.h"
#include "rules/stats/statistics.h"

namespace stepscope {
namespace {

constexpr std::size_t kFifths = 5;        // parts of the newest stretches that are compared
constexpr std::size_t kFitted = 48;       // stretches, which are half of the job or more
constexpr std::size_t kLeastInFifth = 4;  // stretches
constexpr double kPartOfDistance = 0.05;  // by which peaks and lows must rise
constexpr std::uint32_t kNothing = kPercentBins - 1;

}  // namespace

void Envelope::Add(Time at, std::uint32_t bin) {
  if (!from_) from_ = at;
  const auto place = [&] {
    return static_cast<std::size_t>(
        std::max<std::int64_t>(0, (at - *from_) / (Duration(1min) * minutes_)));
  };
  while (place() >= kMost) Halve();
  while (bins_.of.size() / 2 <= place()) {
    bins_.of.push_back(0);
    bins_.of.push_back(kNothing);
  }
  const std::size_t i = bins_.of.size() - 2;
  bins_.of[i] = std::max(bins_.of[i], bin);
  bins_.of[i + 1] = std::min(bins_.of[i + 1], bin);
  newest_ = bin;
}

void Envelope::Halve() {
  auto& of = bins_.of;
  std::vector<std::uint32_t> joined;
  for (std::size_t i = 0; i < of.size(); i += 4) {
    const bool two = i + 2 < of.size();
    joined.push_back(two ? std::max(of[i], of[i + 2]) : of[i]);
    joined.push_back(two ? std::min(of[i + 1], of[i + 3]) : of[i + 1]);
  }
  of = std::move(joined);
  minutes_ *= 2;
}

std::uint32_t Envelope::Most(std::size_t first, std::size_t end) const {
  std::uint32_t most = 0;
  for (std::size_t i = first; i < end; ++i) most = std::max(most, bins_.of[2 * i]);
  return most;
}

std::uint32_t Envelope::Least(std::size_t first, std::size_t end) const {
  std::uint32_t least = kNothing;
  for (std::size_t i = first; i < end; ++i) least = std::min(least, bins_.of[2 * i + 1]);
  return least;
}

std::optional<Envelope::Rise> Envelope::Rises() const {
  const std::size_t part = std::min(Complete(), kFitted) / kFifths;
  if (part < kLeastInFifth) return {};
  const std::size_t from = Complete() - part * kFifths;
  std::array<double, kFifths> peaks{}, lows{};
  double distance = 0;
  for (std::size_t i = 0; i < kFifths; ++i) {
    peaks[i] = BinPercent(Most(from + i * part, from + (i + 1) * part));
    lows[i] = BinPercent(Least(from + i * part, from + (i + 1) * part));
    distance += std::max(0.0, peaks[i] - lows[i]) / kFifths;
  }
  const double least = std::max(kPartOfDistance * distance, 0.01);
  for (std::size_t i = 1; i < kFifths; ++i) {
    if (peaks[i] - peaks[i - 1] < least || lows[i] - lows[i - 1] < least) return {};
  }
  const Duration length = Duration(1min) * minutes_ * static_cast<std::int64_t>(part);
  const double hours = ToSeconds(length) / 3600 * (kFifths - 1);
  return Rise{peaks.front(),
              peaks.back(),
              lows.front(),
              lows.back(),
              (peaks.back() - peaks.front()) / hours,
              length * static_cast<std::int64_t>(kFifths),
              BinPercent(Most(0, from))};
}

std::string Envelope::Bins::Save() const {
  return PackNumbers({of.begin(), of.end()});
}

Status Envelope::Bins::Load(std::string_view packed) {
  const auto numbers = UnpackNumbers(packed, 2 * kMost);
  if (!numbers.ok()) return numbers.error();
  const bool fits = numbers->size() % 2 == 0 && std::ranges::all_of(*numbers, [](auto number) {
                      return number < kPercentBins;
                    });
  if (!fits) return Invalid("state: peaks and lows are out of range");
  of.assign(numbers->begin(), numbers->end());
  return {};
}

}  // namespace stepscope
