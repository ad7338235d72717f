#include "server/front/pressure.h"

#include <array>

namespace stepscope {
namespace {

// Bulk readers are refused when half of something is used or commits take a second; frames when
// nearly all is used or commits take five.
constexpr double kBulkShare = 0.5, kFramesShare = 0.9;
constexpr Duration kBulkCommit = 1s, kFramesCommit = 5s;

Pressure OfShare(double share) {
  if (share >= kFramesShare) return Pressure::kFrames;
  return share >= kBulkShare ? Pressure::kBulk : Pressure::kNone;
}

// A push that waits too long is refused by its own queue: the frames of other senders go on.
Pressure OfWait(double share) {
  return share >= kBulkShare ? Pressure::kBulk : Pressure::kNone;
}

Pressure OfCommits(Duration p95) {
  if (p95 >= kFramesCommit) return Pressure::kFrames;
  return p95 >= kBulkCommit ? Pressure::kBulk : Pressure::kNone;
}

Pressure OfStorage(const Load& load) {
  if (load.storage_nearly_full) return Pressure::kChanges;
  return load.storage_low ? Pressure::kFrames : Pressure::kNone;
}

// Idle connections cost next to nothing, and the edge sheds them itself: they never stop frames.
Pressure OfConnections(double share) {
  return share >= kFramesShare ? Pressure::kBulk : Pressure::kNone;
}

}  // namespace

std::string_view ToText(Shortage shortage) {
  constexpr std::array<std::string_view, 6> kTexts = {"",       "storage", "queue",
                                                      "bodies", "commits", "connections"};
  return kTexts[static_cast<std::size_t>(shortage)];
}

Judgement Judge(const Load& load) {
  const std::array<Judgement, 6> judgements = {{
      {OfStorage(load), Shortage::kStorage},
      {OfShare(load.queue), Shortage::kQueue},
      {OfWait(load.wait), Shortage::kQueue},
      {OfShare(load.bodies), Shortage::kBodies},
      {OfCommits(load.commit_p95), Shortage::kCommits},
      {OfConnections(load.connections), Shortage::kConnections},
  }};
  Judgement worst;
  for (const Judgement& one : judgements) {
    if (one.pressure > worst.pressure) worst = one;
  }
  return worst;
}

void PressureGauge::Update() {
  judgement_ = Judge(look_());
}

bool PressureGauge::Refuses(Traffic traffic) {
  const Pressure now = judgement_.load().pressure;
  const bool bulk = traffic == Traffic::kBulk || traffic == Traffic::kSamples;
  if (bulk && now >= Pressure::kBulk) return ++bulk_, true;
  if (traffic == Traffic::kFrames && now >= Pressure::kFrames) return ++frames_, true;
  if (traffic == Traffic::kChanges && now >= Pressure::kChanges) return ++changes_, true;
  return false;
}

std::uint64_t PressureGauge::refused(Traffic traffic) const {
  if (traffic == Traffic::kBulk) return bulk_;
  if (traffic == Traffic::kFrames) return frames_;
  return traffic == Traffic::kChanges ? changes_.load() : 0;
}

}  // namespace stepscope
