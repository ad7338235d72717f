#include "agent/app/job/opening.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/app/job/rank_processes.h"
#include "agent/launch/process_start.h"
#include "agent/launch/python_start.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr Duration kWhileStarting = 1s;
constexpr Duration kBetweenUpdates = 2s;
constexpr Duration kSourcesPause = 60s;      // a source's shortfall may change all the time
constexpr Duration kFirstSourcesPause = 5s;  // what is read seldom is known after some ticks
constexpr Duration kLimitsPause = 60s;
// A short training is told of early, a long one does not pay for it: a Python that loads torch late
// is on the page within 10 s. A rank that is heard mostly means that all are.
constexpr Duration kFirstHooksPause = 2s, kLongestHooksPause = 5s, kHeardHooksPause = 60s;

// The sources that are absent. KINETO variables are read from the environment of the agent, which
// the command gets, too.
std::vector<AbsentSource> AbsentOf(const Sampler& sampler) {
  std::vector<AbsentSource> absent = sampler.Absent();
  std::string kineto = KinetoNote(Variable);
  if (!kineto.empty()) absent.push_back({"kineto", std::move(kineto)});
  return absent;
}

}  // namespace

Opening::Opening(const RunOptions& options, const OpeningParts& parts)
    : options_(options),
      parts_(parts),
      way_{.root = options.root,
           .start_folder = PythonStartFolder(OwnProgram()),
           .socket = parts.intake ? parts.intake->socket_path() : "",
           .user = geteuid(),
           .names_script = options.secrets.sends_command,
           .switched_off = !options.python_hooks},
      at_(parts.clock.Now()),
      begun_(parts.clock.Steady()),
      gpus_(options.root, parts.intake, parts.sampler),
      owner_uid_(geteuid()),
      owner_(std::make_unique<JobOwner>(owner_uid_)),
      sources_due_(begun_ + kFirstSourcesPause),
      hooks_due_(begun_ + kFirstHooksPause) {
  gpus_.Update();
  owner_->Learn(OwnVariable);
  LimitsChanged(begun_);
  SendStart();
}

Duration Opening::Update() {
  const SteadyTime now = parts_.clock.Steady();
  bool changed = parts_.sampler.Starting() != starting_;
  changed = gpus_.Update() || changed;
  changed = SourcesChanged(now) || changed;
  changed = LimitsChanged(now) || changed;
  changed = HooksChanged(now) || changed;
  LookForOwner();
  if (changed || owner_->User() != user_) SendStart();
  return starting_ ? kWhileStarting : kBetweenUpdates;
}

void Opening::SendStart() {
  starting_ = parts_.sampler.Starting();
  JobStart start{at_,
                 options_.group,
                 options_.interval,
                 options_.command,
                 ReadNodeFacts(options_.root),
                 options_.secrets};
  start.facts.limits = limits_;
  start.facts.agent_version = options_.agent_version;
  start.facts.allows = AllowedWords(options_.allowed);
  start.facts.gpus = gpus_.Facts();
  start.facts.absent = AbsentOf(parts_.sampler);
  start.facts.user = user_ = owner_->User();
  start.facts.account = owner_->account();
  start.facts.slowed = parts_.sampler.Slowed();
  start.facts.hooks_missing = hooks_missing_;
  parts_.session.SendStart(start);
  absent_ = std::move(start.facts.absent);
  slowed_ = std::move(start.facts.slowed);
}

bool Opening::SourcesChanged(SteadyTime now) {
  if (!starting_ && now < sources_due_) return false;
  sources_due_ = now + kSourcesPause;
  return AbsentOf(parts_.sampler) != absent_ || parts_.sampler.Slowed() != slowed_;
}

// The ranks; the command as long as there are none, and the agent where there is no command.
std::vector<std::int64_t> Opening::Processes() const {
  std::vector<std::int64_t> pids = PidsOf(RanksOf(parts_.intake));
  if (pids.empty()) pids.push_back(parts_.command != 0 ? parts_.command : getpid());
  return pids;
}

// The ranks or the command may have become another user's than the agent's.
void Opening::LookForOwner() {
  struct stat process {};
  const std::string folder = Format("{}/proc/{}", options_.root, Processes()[0]);
  if (stat(folder.c_str(), &process) != 0 || process.st_uid == owner_uid_) return;
  owner_uid_ = process.st_uid;
  owner_ = std::make_unique<JobOwner>(owner_uid_);
  owner_->Learn(OwnVariable);
}

bool Opening::LimitsChanged(SteadyTime now) {
  const std::uint64_t changes = parts_.intake ? parts_.intake->Changes() : 0;
  if (now < limits_due_ && limits_changes_ == changes) return false;
  // A command may bind itself to some cores as its first act.
  limits_due_ = now + (limits_changes_ ? kLimitsPause : kBetweenUpdates);
  limits_changes_ = changes;
  const ProcessLimits limits = ReadProcessLimits(options_.root, Processes(), CgroupTop::kCounts);
  if (limits.cores == 0) return false;  // the process has ended
  return std::exchange(limits_, limits) != limits;
}

bool Opening::HooksChanged(SteadyTime now) {
  if (parts_.intake == nullptr || parts_.command == 0) return false;
  const auto ranks = RanksOf(parts_.intake);
  const auto heard = PidsOf(ranks);
  // Those in another namespace of processes cannot be told from the one without hooks.
  if (heard.size() < ranks.size()) return !std::exchange(hooks_missing_, "").empty();
  const bool others = std::exchange(heard_, heard) != heard;
  if (now < hooks_due_ && !(others && !hooks_missing_.empty())) return false;
  const Duration longest = heard.empty() ? kLongestHooksPause : kHeardHooksPause;
  hooks_due_ = now + std::clamp<Duration>(now - begun_, kFirstHooksPause, longest);
  std::string missing = FindMissingHooks(way_, parts_.command, heard);
  // A process that has ended stays on the page as the reason why nothing was seen.
  if (missing == hooks_missing_ || (missing.empty() && heard.empty())) return false;
  hooks_missing_ = std::move(missing);
  const bool told = hooks_missing_.empty() || way_.switched_off || hooks_logged_;
  if (!told) LogWarning("job {}: {}", options_.job, hooks_missing_);
  hooks_logged_ = hooks_logged_ || !told;
  return true;
}

}  // namespace stepscope
