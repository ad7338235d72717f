#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "core/base/time.h"

namespace stepscope {

// How much of each resource that the service may run short of is used now.
struct Load {
  double queue = 0;        // requests that wait for a worker, as a share of the most that may
  double wait = 0;         // pushes of the sender that waits least, as a share of the longest wait
  double bodies = 0;       // bytes of bodies in flight, as a share of the most
  double connections = 0;  // as a share of the most
  Duration commit_p95{};   // of commits of ingest
  bool storage_low = false;
  bool storage_nearly_full = false;
};

// The kind of a call, which decides when it is refused: bulk readers and samples that nobody keeps
// first, then frames, then whatever else makes rows; people's pages never.
enum class Traffic { kPeople, kBulk, kSamples, kFrames, kChanges };

// How much the service refuses, and what it is short of.
enum class Pressure : std::uint8_t { kNone, kBulk, kFrames, kChanges };
enum class Shortage : std::uint8_t { kNone, kStorage, kQueue, kBodies, kCommits, kConnections };
struct Judgement {
  Pressure pressure = Pressure::kNone;
  Shortage shortage = Shortage::kNone;
};
std::string_view ToText(Shortage shortage);

Judgement Judge(const Load& load);

// Decides what is refused. It is asked for each request, so it only reads the last judgement. Safe
// from any thread.
class PressureGauge {
 public:
  explicit PressureGauge(std::function<Load()> look) : look_(std::move(look)) {}

  // Judges anew; call it a few times a second.
  void Update();

  Judgement judgement() const { return judgement_; }
  Load load() const { return look_(); }

  // Counts the call when it is to be refused.
  bool Refuses(Traffic traffic);
  std::uint64_t refused(Traffic traffic) const;

 private:
  const std::function<Load()> look_;
  std::atomic<Judgement> judgement_{};
  std::atomic<std::uint64_t> bulk_{0}, frames_{0}, changes_{0};
};

}  // namespace stepscope
