#include "rules/ranks/rank_work.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "core/wire/bytes.h"
#include "rules/engine/packing.h"

namespace stepscope {
namespace {

constexpr Phase kOwn[] = {Phase::kData, Phase::kCallback, Phase::kCheckpoint};
constexpr Phase kMixed[] = {Phase::kForward, Phase::kLoss, Phase::kBackward, Phase::kSync};
constexpr std::size_t kWorkNumbers = 9;
// Bins of times that can be; a state may be damaged.
constexpr std::int64_t kLastBin = 1LL << 31, kMostDoubled = 31;
constexpr std::uint64_t kMostWork = std::numeric_limits<std::int64_t>::max();

std::uint64_t Micros(Duration length) {
  return static_cast<std::uint64_t>(length / 1us);
}

template <std::size_t kCount>
std::uint64_t Micros(const StepSums& sums, const Phase (&phases)[kCount]) {
  std::uint64_t micros = 0;
  for (const Phase phase : phases) micros += Micros(sums.phase(phase));
  return micros;
}

// The members of sums, in the order in which they are saved.
template <typename Sums>
auto Numbers(Sums& sums) {
  return std::array{&sums.steps,  &sums.wall_us,   &sums.own_us, &sums.called_us, &sums.mixed_us,
                    &sums.dry_us, &sums.dry_steps, &sums.thread, &sums.samples};
}

void Put(std::vector<std::uint64_t>& numbers, const WorkSums& sums) {
  for (const std::uint64_t* number : Numbers(sums)) numbers.push_back(*number);
}

WorkSums Take(const std::uint64_t*& from) {
  WorkSums sums;
  for (std::uint64_t* number : Numbers(sums)) *number = *from++;
  return sums;
}

}  // namespace

void WorkSums::Add(const WorkSums& other) {
  const auto mine = Numbers(*this);
  const auto others = Numbers(other);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    *mine[i] += std::min(*others[i], kMostWork - *mine[i]);
  }
}

// Phases may overlap; they count as parts of the step all the same.
void WorkSums::Add(const StepSums& sums) {
  WorkSums more;
  more.steps = static_cast<std::uint64_t>(sums.steps());
  std::uint64_t left = Micros(sums.wall());
  more.wall_us = left + Micros(sums.evaluation());
  const auto take = [&](std::uint64_t part_us) {
    const std::uint64_t taken = std::min(left, part_us);
    left -= taken;
    return taken;
  };
  more.own_us = take(Micros(sums, kOwn)) + Micros(sums.evaluation());
  more.called_us = take(Micros(sums.phase(Phase::kCommunication)));
  more.mixed_us = take(Micros(sums, kMixed));
  Add(more);
}

double WorkSums::PartOf(std::uint64_t part_us) const {
  return wall_us == 0 ? 0 : static_cast<double>(part_us) / static_cast<double>(wall_us);
}

double WorkSums::Dry() const {
  if (wall_us == 0 || dry_steps == 0) return 0;
  const double known = static_cast<double>(dry_steps) / static_cast<double>(steps);
  return std::min(1.0, PartOf(dry_us) / known);
}

double WorkSums::Thread() const {
  if (samples == 0) return 0;
  return std::min(1.0, static_cast<double>(thread) / static_cast<double>(samples) / 10'000);
}

std::int64_t RankWork::BinOf(Time at) {
  const Duration since = at.time_since_epoch();
  const Duration into = (since % kBin + kBin) % kBin;
  return (since - into) / kBin;
}

Time RankWork::BeginOf(std::int64_t bin, std::int64_t doubled) {
  const std::int64_t last = kLastBin >> std::clamp<std::int64_t>(doubled, 0, kMostDoubled);
  return Time(kBin * (std::clamp(bin, -last, last) * (kLastBin / last)));
}

void RankWork::Add(std::int64_t bin, const StepSums& steps, const WorkSums& samples) {
  WorkSums sums = samples;
  sums.Add(steps);
  steps_.Add(steps);
  if (begins_) before_ = std::exchange(fresh_, WorkSums());
  begins_ = false;
  fresh_.Add(sums);
  bins_[bin].Add(sums);
}

void RankWork::Double() {
  Bins doubled;
  for (const auto& [bin, sums] : bins_) doubled[bin >> 1].Add(sums);
  bins_ = std::move(doubled);
}

WorkSums RankWork::Recent() const {
  WorkSums both = fresh_;
  both.Add(before_);
  return both;
}

std::string RankWork::Save() const {
  std::vector<std::uint64_t> numbers;
  Put(numbers, fresh_);
  Put(numbers, before_);
  for (const auto& [bin, sums] : bins_) {
    numbers.push_back(ZigZag(bin));
    Put(numbers, sums);
  }
  std::string bytes;
  PutText(bytes, steps_.Save());
  return bytes + PackNumbers(numbers);
}

Status RankWork::Load(std::string_view packed) {
  constexpr std::size_t kMostNumbers =
      2 * kWorkNumbers + static_cast<std::size_t>(kMostBins) * (kWorkNumbers + 1);
  ByteReader reader(packed);
  const std::string_view steps = reader.TakeText(reader.left());
  if (!reader.ok()) return Invalid("state: the work of a rank is cut");
  if (const Status loaded = steps_.Load(steps); !loaded.ok()) return loaded;
  const auto numbers = UnpackNumbers(reader.rest(), kMostNumbers);
  if (!numbers.ok()) return numbers.error();
  const bool fits = numbers->size() >= 2 * kWorkNumbers &&
                    (numbers->size() - 2 * kWorkNumbers) % (kWorkNumbers + 1) == 0;
  if (!fits) return Invalid("state: the work of a rank is cut");
  const std::uint64_t* from = numbers->data();
  const std::uint64_t* const end = from + numbers->size();
  fresh_ = Take(from);
  before_ = Take(from);
  bins_.clear();
  while (from < end) {
    const std::int64_t bin = UnZigZag(*from++);
    bins_[bin] = Take(from);
  }
  return {};
}

}  // namespace stepscope
