#include "agent/launch/process_stop.h"

#include <signal.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "agent/host/process_files.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

// A process that waits for a disk ends when the disk answers.
constexpr Duration kKillWait = 10s;

// Nothing when it has ended, even if nobody has asked how.
std::optional<ProcessStat> StatOf(Source& file) {
  const auto text = file.Read();
  const auto stat = text ? ParseProcessStat(*text) : std::nullopt;
  const bool ended = !stat || stat->state == 'Z' || stat->state == 'X';
  return ended ? std::nullopt : stat;
}

void Send(std::int64_t pid, int signal) {
  if (kill(static_cast<pid_t>(pid), signal) == 0 || errno == ESRCH) return;
  LogWarning("process {} cannot be stopped: {}", pid, std::strerror(errno));
}

}  // namespace

ProcessStop::ProcessStop(const std::vector<std::int64_t>& pids, Duration grace, const Clock& clock)
    : clock_(clock), grace_(grace), began_(clock.Steady()) {
  for (const std::int64_t pid : pids) {
    if (auto member = Open(pid)) members_.try_emplace(pid, std::move(*member));
  }
}

std::optional<ProcessStop::Member> ProcessStop::Open(std::int64_t pid) {
  auto file = Source::Open("", ProcessFolder(pid) + "stat");
  const auto stat = file ? StatOf(*file) : std::nullopt;
  if (!stat) return std::nullopt;
  const std::int64_t parent = stat->parent;
  return Member{std::move(*file), parent};
}

void ProcessStop::DropEnded() {
  for (auto member = members_.begin(); member != members_.end();) {
    const auto stat = StatOf(member->second.stat);
    if (stat) member->second.parent = stat->parent;
    member = stat ? std::next(member) : members_.erase(member);
  }
}

// Again while there are new ones, which may have children too.
void ProcessStop::AddChildren() {
  const std::vector<std::int64_t> all = Pids("");
  for (std::size_t before = 0; before != members_.size();) {
    before = members_.size();
    for (const std::int64_t pid : all) {
      if (members_.contains(pid)) continue;
      auto member = Open(pid);
      if (member && members_.contains(member->parent)) members_.emplace(pid, std::move(*member));
    }
  }
}

void ProcessStop::Terminate() {
  for (auto& [pid, member] : members_) {
    if (member.told || members_.contains(member.parent)) continue;
    member.told = true;
    LogInfo("SIGTERM to process {}", pid);
    Send(pid, SIGTERM);
  }
}

void ProcessStop::Kill() {
  if (!killed_) {
    LogWarning("{} processes have not ended within {}: SIGKILL", members_.size(), ToText(grace_));
    killed_ = clock_.Steady();
  }
  for (const auto& [pid, member] : members_) Send(pid, SIGKILL);
}

void ProcessStop::Look() {
  DropEnded();
  if (members_.empty()) return;
  AddChildren();
  clock_.Steady() - began_ < grace_ ? Terminate() : Kill();
}

bool ProcessStop::Over() const {
  return members_.empty() || (killed_ && clock_.Steady() - *killed_ >= kKillWait);
}

}  // namespace stepscope
