#include "rules/engine/finding_track.h"

#include <algorithm>
#include <utility>

namespace stepscope {

bool FindingTrack::Joins(const Subject& subject, Time from, Duration gap) const {
  const auto found = newest_.find(subject);
  return found != newest_.end() && from - gap <= found->second.to;
}

void FindingTrack::Trigger(const Subject& subject, Time from, Time to, std::string sentence,
                           Json evidence, Duration gap) {
  const bool joins = Joins(subject, from, gap);
  if (!joins && next_ > kMost) {
    ++left_out_;
    return;
  }
  Stretch& stretch = newest_[subject];
  if (!joins) stretch = {next_++, from, to};
  stretch.to = std::max(stretch.to, to);
  changed_[stretch.number] = {stretch.number, stretch.from,        stretch.to,
                              subject,        std::move(sentence), std::move(evidence)};
}

std::vector<Finding> FindingTrack::Take() {
  std::vector<Finding> findings;
  for (auto& [number, finding] : std::exchange(changed_, {})) {
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace stepscope
