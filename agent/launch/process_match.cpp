#include "agent/launch/process_match.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/collect/source.h"
#include "agent/host/process_files.h"
#include "agent/host/process_text.h"
#include "agent/launch/process_start.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr int kMostScans = 3;
constexpr std::size_t kMostMatched = 1024;
constexpr std::size_t kLongestCommand = 4096;
// The variables that python/stepscope/_place.py reads, in the same order.
constexpr std::string_view kRanks[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                       "SLURM_PROCID"};

std::int64_t ParentOf(const std::string& root, std::int64_t pid) {
  auto file = Source::Open(root, Format("/proc/{}/stat", pid));
  if (!file) return 0;
  const auto text = file->Read();
  const auto stat = text ? ParseProcessStat(*text) : std::nullopt;
  return stat ? stat->parent : 0;
}

std::string CommandLine(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (line.size() < kLongestCommand) line += (line.empty() ? "" : " ") + word;
  }
  return line.substr(0, kLongestCommand);
}

std::string RankOf(const Environment& environment) {
  for (const std::string_view name : kRanks) {
    if (std::string rank = environment(name); !rank.empty()) return rank;
  }
  return "";
}

bool IsAgent(const std::vector<std::string>& words) {
  return !words.empty() && words[0].substr(words[0].rfind('/') + 1) == "stepscope-agent";
}

}  // namespace

struct ProcessMatch::Candidate {
  MatchedProcess process;
  std::int64_t parent = 0;
  std::string rank;  // as its launcher sets it; "" without one
};

void ProcessMatch::Refuse(std::int64_t pid, const Error& why) {
  if (std::exchange(reported_[pid], true)) return;
  LogWarning("process {} fits --match and is not profiled: {}", pid, why.message);
}

void ProcessMatch::Consider(std::int64_t pid, std::vector<Candidate>& candidates) {
  const auto scans = others_.find(pid);
  if (pid == getpid() || (scans != others_.end() && scans->second >= kMostScans)) return;
  struct stat owner {};
  if (stat(Format("{}/proc/{}", root_, pid).c_str(), &owner) != 0) return;
  const ProcessStart start = ReadProcessStart(root_, pid);
  if (!allowed_(owner.st_uid) || IsAgent(start.command) ||
      !pattern_.Fits(CommandLine(start.command))) {
    ++others_[pid];
    return;
  }
  if (!start.environment("STEPSCOPE_SOCKET").empty()) return;
  const auto names = NamesOfProcess("", start.environment);
  if (!names) return Refuse(pid, names.error());
  const MatchedProcess process{names->job, owner.st_uid, owner.st_gid,
                               0,          pid,          start.environment("CUDA_VISIBLE_DEVICES")};
  const auto may = may_name_(process);
  if (!may) return;
  if (!*may) return Refuse(pid, may->error());
  candidates.push_back({process, ParentOf(root_, pid), RankOf(start.environment)});
}

std::vector<MatchedProcess> ProcessMatch::Scan() {
  const std::vector<std::int64_t> pids = Pids(root_);
  const auto gone = [&](const auto& entry) {
    return !std::ranges::binary_search(pids, entry.first);
  };
  std::erase_if(others_, gone);
  std::erase_if(reported_, gone);
  std::vector<Candidate> all;
  for (const std::int64_t pid : pids) {
    if (all.size() < kMostMatched) Consider(pid, all);
  }
  const auto is_worker = [&](const Candidate& one) {
    return std::ranges::any_of(all, [&](const Candidate& other) {
      return other.process.pid == one.parent && other.rank == one.rank;
    });
  };
  const auto is_launcher = [&](const Candidate& one) {
    return one.rank.empty() && std::ranges::any_of(all, [&](const Candidate& other) {
             return other.process.job == one.process.job && !other.rank.empty();
           });
  };
  std::vector<MatchedProcess> found;
  std::map<std::string, std::int32_t> next;  // next rank for a process without one
  for (const Candidate& each : all) {
    if (is_worker(each) || is_launcher(each)) continue;
    found.push_back(each.process);
    const auto rank = ParseInt(each.rank, "rank");
    found.back().rank = rank && *rank >= 0 && *rank < 1'000'000 ? static_cast<std::int32_t>(*rank)
                                                                : next[each.process.job]++;
  }
  return found;
}

}  // namespace stepscope
