#include "agent/launch/unheard_pythons.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "agent/host/process_files.h"
#include "agent/launch/process_start.h"
#include "agent/launch/python_command.h"
#include "core/base/text.h"
#include "core/model/names.h"

namespace stepscope {
namespace {

constexpr int kScansOfOthers = 3;    // it may yet become its program
constexpr int kScansOfPythons = 12;  // it may load torch late
constexpr std::size_t kMostTold = 1024;

}  // namespace

std::pair<std::string, std::string> UnheardPythons::Consider(std::int64_t pid) {
  struct stat owner {};
  if (stat(Format("{}/proc/{}", way_.root, pid).c_str(), &owner) != 0) return {};
  int& scans = scans_.try_emplace(pid, kScansOfPythons).first->second;
  if (scans <= 0) return {};
  --scans;
  const ProcessStart start = ReadProcessStart(way_.root, pid);
  std::string job = AllowedJobName(start.environment("STEPSCOPE_JOB"));
  if (!allowed_(owner.st_uid) || !ParsePythonCommand(start.command) || !CheckJobName(job)) {
    scans = std::min(scans, kScansOfOthers - 1);
    return {};
  }
  HooksWay way = way_;
  way.user = owner.st_uid;  // the intake decides who may connect, and says whom it refused
  return {std::move(job), WhyWithoutHooks(way, pid)};
}

std::vector<std::string> UnheardPythons::Scan(const std::set<std::int64_t>& connected) {
  const std::vector<std::int64_t> pids = Pids(way_.root);
  std::erase_if(scans_,
                [&](const auto& entry) { return !std::ranges::binary_search(pids, entry.first); });
  if (told_.size() > kMostTold) told_.clear();
  std::vector<std::string> sentences;
  for (const std::int64_t pid : pids) {
    if (pid == getpid() || connected.contains(pid)) continue;
    auto [job, why] = Consider(pid);
    if (why.empty()) continue;
    scans_[pid] = 0;
    if (told_.insert(job).second) sentences.push_back(Format("job {}: {}", job, why));
  }
  return sentences;
}

}  // namespace stepscope
