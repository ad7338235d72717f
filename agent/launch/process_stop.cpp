#include "agent/launch/process_stop.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>

#include "agent/collect/source.h"
#include "agent/host/process_files.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

// How long to wait after SIGKILL: a process that waits for a disk ends when the disk answers.
constexpr Duration kKillWait = 10s;

// Logs a failure of SIGTERM only, since SIGKILL is sent again and again.
void Send(std::int64_t pid, int signal) {
  if (kill(static_cast<pid_t>(pid), signal) == 0 || errno == ESRCH || signal == SIGKILL) return;
  LogWarning("process {} cannot be stopped: {}", pid, std::strerror(errno));
}

}  // namespace

ProcessStop::ProcessStop(Duration grace, const Clock& clock)
    : clock_(clock), grace_(grace), began_(clock.Steady()) {}

void ProcessStop::Add(const std::vector<std::int64_t>& pids) {
  for (const std::int64_t pid : pids) {
    if (pid == getpid() || members_.contains(pid)) continue;
    if (const auto member = Find(pid)) members_.emplace(pid, *member);
  }
}

std::optional<ProcessStop::Member> ProcessStop::Find(std::int64_t pid) {
  auto file = Source::Open("", ProcessFolder(pid) + "stat");
  const auto text = file ? file->Read() : Result<std::string_view>(file.error());
  const auto stat = text ? ParseProcessStat(*text) : std::nullopt;
  const auto started = text ? ParseProcessStart(*text) : std::nullopt;
  if (!stat || !started || HasEnded(*stat)) return std::nullopt;
  return Member{*started, stat->parent};
}

void ProcessStop::DropEnded() {
  for (auto each = members_.begin(); each != members_.end();) {
    const auto now = Find(each->first);
    const bool lives = now && now->started == each->second.started;
    if (lives) each->second.parent = now->parent;
    each = lives ? std::next(each) : members_.erase(each);
  }
}

// Repeats while there are new children, which may have children too.
void ProcessStop::AddChildren() {
  const std::vector<std::int64_t> all = Pids("");
  for (std::size_t before = 0; before != members_.size();) {
    before = members_.size();
    for (const std::int64_t pid : all) {
      if (pid == getpid() || members_.contains(pid)) continue;
      const auto member = Find(pid);
      if (member && members_.contains(member->parent)) members_.emplace(pid, *member);
    }
  }
}

void ProcessStop::Terminate() {
  for (auto& [pid, member] : members_) {
    if (member.terminated || members_.contains(member.parent)) continue;
    member.terminated = true;
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

void ProcessStop::Continue() {
  if (Over()) return;
  DropEnded();
  if (members_.empty()) return;
  AddChildren();
  clock_.Steady() - began_ < grace_ ? Terminate() : Kill();
}

bool ProcessStop::Over() const {
  return members_.empty() || (killed_ && clock_.Steady() - *killed_ >= kKillWait);
}

}  // namespace stepscope
