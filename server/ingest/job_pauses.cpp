#include "server/ingest/job_pauses.h"

#include <algorithm>

namespace stepscope {

void JobPauses::Note(const std::string& job, const Status& stored, SteadyTime now) {
  const bool away = !stored && stored.error().code == Code::kUnavailable;
  if (!away && pauses_.Read([](const auto& pauses) { return pauses.empty(); })) return;
  pauses_.Change([&](auto& pauses) {
    if (!away) return void(pauses.erase(job));
    if (pauses.size() >= kMostJobs) pauses.clear();
    Pause& pause = pauses[job];
    pause.length = std::clamp<Duration>(2 * pause.length, kFirst, longest_);
    pause.until = now + pause.length;
  });
}

bool JobPauses::IsPaused(const std::string& job, SteadyTime now) const {
  return pauses_.Read([&](const auto& pauses) {
    const auto found = pauses.find(job);
    return found != pauses.end() && now < found->second.until;
  });
}

std::vector<std::string> JobPauses::Noted() const {
  return pauses_.Read([](const auto& pauses) {
    std::vector<std::string> jobs;
    for (const auto& [job, pause] : pauses) jobs.push_back(job);
    return jobs;
  });
}

}  // namespace stepscope
