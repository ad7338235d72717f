#include "rules/finding_track.h"

#include <algorithm>
#include <utility>

namespace stepscope {

void FindingTrack::Trigger(const Subject& subject, Time from, Time to, std::string sentence,
                           Json evidence) {
  const auto found = newest_.find(subject);
  const bool joins = found != newest_.end() && from <= found->second.to;
  if (!joins && next_ > kMost) {
    ++left_out_;
    return;
  }
  Stretch& stretch = joins ? found->second : newest_[subject];
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
