#include "server/ingest/job_machines.h"

namespace stepscope {

std::optional<std::int64_t> JobMachines::Of(const std::string& job) const {
  return entries_.Read([&](const auto& entries) {
    const auto found = entries.find(job);
    const bool known = found != entries.end() && found->second.machine;
    return known ? std::optional(found->second.machine->number) : std::nullopt;
  });
}

std::optional<CitusMachine> JobMachines::Find(const std::string& job) const {
  return entries_.Read([&](const auto& entries) {
    const auto found = entries.find(job);
    return found == entries.end() ? std::nullopt : found->second.machine;
  });
}

bool JobMachines::IsFresh(const std::string& job, SteadyTime now) const {
  return entries_.Read([&](const auto& entries) {
    const auto found = entries.find(job);
    return found != entries.end() && now - found->second.asked < kFresh;
  });
}

// A full memory starts anew: the database knows all.
void JobMachines::Put(const std::string& job, std::optional<CitusMachine> machine, SteadyTime now) {
  entries_.Change([&](auto& entries) {
    if (entries.size() >= kMostJobs && !entries.contains(job)) entries.clear();
    entries[job] = {std::move(machine), now};
  });
}

void JobMachines::NoteAnswer(std::int64_t number, SteadyTime now) {
  answers_.Change([&](auto& answers) { answers[number] = now; });
}

bool JobMachines::HasAnsweredSince(const std::string& job, SteadyTime since) const {
  const auto machine = Of(job);
  if (!machine) return false;
  return answers_.Read([&](const auto& answers) {
    const auto last = answers.find(*machine);
    return last != answers.end() && last->second >= since;
  });
}

}  // namespace stepscope
