#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.h"

namespace stepscope {

// What all sources of a node may cost together where nobody says, in CPU seconds a second.
inline constexpr double kUsualCoreShare = 0.0006;

// What is read together, and how often at most.
struct ReadingKind {
  std::string_view name;  // for people: "clocks"
  Duration least{};       // shortest time between two readings; 0: each tick
  double worth = 1;       // what costs as much and is worth more is read more often
};

// A reading that is done less often than its source's page says, to keep within the budget.
struct SlowedReading {
  std::string name;
  Duration period{};
  bool operator==(const SlowedReading&) const = default;
};

// Decides how often each of several readings is due, so that all of them together cost no more CPU
// time than their share of a core: the one that costs most a second for its worth is slowed first,
// to once a minute at most. Costs are measured while it runs; the mean goes along with them, and
// periods are chosen anew every 10 s. For one thread.
class ReadingPlan {
 public:
  static constexpr Duration kLongest = 60s;

  // `core_share` is CPU seconds a second: 0.0006 is 0.06 % of a core.
  ReadingPlan(std::span<const ReadingKind> kinds, double core_share);

  // Adds a kind and returns its number.
  std::size_t Add(const ReadingKind& kind);

  void SetShare(double core_share) { share_ = core_share; }

  // Called once at the start of each tick.
  void Begin(SteadyTime now);

  // Whether this reading is due in the tick. The first two are due at once, so that rates are known
  // from the second tick on.
  bool Due(std::size_t kind);

  // What the reading cost that was due.
  void Spend(std::size_t kind, Duration cpu);

  Duration PeriodOf(std::size_t kind) const;
  Duration CostOf(std::size_t kind) const { return rows_[kind].cost; }

  // CPU seconds a second that all readings take with these periods.
  double Load() const;

  std::vector<SlowedReading> Slowed() const;
  unsigned changes() const { return changes_; }  // of periods

 private:
  struct Row {
    Duration cost{}, slowed{};  // period beyond the shortest one; 0: none
    Duration before{};          // `slowed` of the plan before
    SteadyTime read_at{}, next{};
    unsigned readings = 0;
  };

  double LoadOf(std::size_t kind) const;
  Duration ShortestOf(std::size_t kind) const;
  SteadyTime NextOf(std::size_t kind) const;
  void Plan();

  std::vector<ReadingKind> kinds_;
  double share_;
  unsigned changes_ = 0, begun_ = 0;
  std::vector<Row> rows_;
  SteadyTime now_{}, next_plan_{};
  Duration interval_ = 0ns;  // between the last two ticks
};

}  // namespace stepscope
