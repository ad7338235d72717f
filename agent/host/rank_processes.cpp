#include "agent/host/rank_processes.h"

#include <unistd.h>

#include <algorithm>

#include "agent/collect/scan.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

struct Sums {
  double cpu = 0, loader_cpu = 0, loader_waiting = 0, read = 0, written = 0;
  int loaders = 0, loaders_blocked = 0, with_cpu = 0, with_waiting = 0, with_io = 0;

  void Add(const ProcessUse& use) {
    cpu += use.cpu_percent.value_or(0);
    with_cpu += use.cpu_percent.has_value();
    read += use.read_bytes_per_second.value_or(0);
    written += use.write_bytes_per_second.value_or(0);
    with_io += use.read_bytes_per_second.has_value();
    if (!use.loader) return;
    ++loaders;
    loader_cpu += use.cpu_percent.value_or(0);
    loader_waiting += use.waiting_percent.value_or(0);
    with_waiting += use.waiting_percent.has_value();
    loaders_blocked += use.state == 'D';
  }
};

}  // namespace

RankProcesses::RankProcesses(const std::string& device)
    : device_(device),
      thread_cpu_("process_thread_cpu_percent", device),
      thread_waiting_("process_thread_waiting_percent", device),
      thread_blocked_("process_thread_blocked_percent", device),
      stopped_("process_stopped_percent", device),
      cpu_("process_cpu_percent", device),
      loader_cpu_("process_loaders_cpu_percent", device),
      loader_waiting_("process_loaders_waiting_percent", device),
      loaders_("process_loaders", device),
      loaders_blocked_("process_loaders_blocked_percent", device),
      resident_("process_resident_bytes", device),
      shared_("process_shared_bytes", device),
      proportional_("process_proportional_bytes", device),
      read_("process_read_bytes_per_second", device),
      written_("process_write_bytes_per_second", device),
      gpu_memory_("process_gpu_memory_bytes", device) {}

void RankProcesses::Follow(const std::string& root, std::int64_t pid) {
  // A process that ended is not opened again: its pid may be another's by now.
  if (pid == pid_) return;
  Close();
  root_ = root;
  pid_ = pid;
  auto process = ProcessFiles::Open(root, pid);
  const std::string folder = ProcessFolder(pid);
  auto stat = Source::Open(root, Format("{}task/{}/stat", folder, pid));
  auto memory = Source::Open(root, folder + "statm");
  if (!process || !stat) return;
  thread_.emplace(Thread{std::move(*stat),
                         Source::Open(root, Format("{}task/{}/schedstat", folder, pid)),
                         {},
                         {},
                         ThreadChildren::Open(root + folder + "task")});
  if (memory) memory_ = std::move(*memory);
  command_ = ProcessCommand(root, pid);
  processes_.push_back(std::move(*process));
}

void RankProcesses::Close() {
  pid_ = 0;
  processes_.clear();
  thread_.reset();
  memory_.reset();
}

void RankProcesses::ReadThread(SteadyTime now, bool state, TickRow& row) {
  if (!thread_) return;
  std::string_view words = TextOf(thread_->run_time).value_or("");
  const auto nanos = TakeNumber(words), waited = TakeNumber(words);
  std::optional<ProcessStat> stat;
  if (state || !nanos) {
    const auto text = thread_->stat.Read();
    stat = text ? ParseProcessStat(*text) : std::nullopt;
    if (!stat) return;
  }
  if (state) ShowState(stat->state, row);
  const auto rate = thread_->used.Rate(nanos ? *nanos : stat->cpu_ticks, now);
  if (rate) thread_cpu_.Set(*rate * (nanos ? kPercentOfNanos : PercentPerTick()), row);
  const auto wait = waited ? thread_->waited.Rate(*waited, now) : std::nullopt;
  if (wait) thread_waiting_.Set(*wait * kPercentOfNanos, row);
}

void RankProcesses::ShowState(char state, TickRow& row) {
  thread_blocked_.Set(state == 'D' ? 100 : 0, row);
  const bool stopped = state == 'T' || state == 't';
  if (stopped || stopped_.taken()) stopped_.Set(stopped ? 100 : 0, row);
}

void RankProcesses::ReadMemory(TickRow& row) {
  if (!memory_) return;
  const auto text = memory_->Read();
  if (!text) return;
  const auto memory = ParseProcessMemory(*text);
  if (!memory) return;
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  resident_.Set(static_cast<double>(memory->resident_pages) * page, row);
  shared_.Set(static_cast<double>(memory->shared_pages) * page, row);
}

void RankProcesses::ReadAll(SteadyTime now, bool io, TickRow& row) {
  Sums sums;
  bool trains = false;
  std::erase_if(processes_, [&](ProcessFiles& process) {
    const bool first = process.pid() == pid_;
    const auto use = process.Read(now, first ? "" : command_, io);
    if (use) sums.Add(*use);
    if (first && use) ShowState(use->state, row), trains = true;
    return !use;
  });
  if (!trains) {
    processes_.clear();
    thread_.reset();
    memory_.reset();
    return;
  }
  ReadMemory(row);
  loaders_.Set(sums.loaders, row);
  if (sums.with_cpu > 0) cpu_.Set(sums.cpu, row);
  if (sums.with_io > 0) read_.Set(sums.read, row), written_.Set(sums.written, row);
  if (sums.loaders == 0) return;
  loader_cpu_.Set(sums.loader_cpu, row);
  if (sums.with_waiting > 0) loader_waiting_.Set(sums.loader_waiting, row);
  loaders_blocked_.Set(100.0 * sums.loaders_blocked / sums.loaders, row);
}

void RankProcesses::PidsInto(std::vector<std::int64_t>& pids) const {
  for (const ProcessFiles& process : processes_) pids.push_back(process.pid());
}

void RankProcesses::ShowGpuMemory(const std::vector<GpuProcess>& on_gpus, TickRow& row) {
  double bytes = 0;
  bool any = false;
  for (const GpuProcess& one : on_gpus) {
    const auto same = [&](const ProcessFiles& process) { return process.pid() == one.pid; };
    if (std::ranges::none_of(processes_, same)) continue;
    bytes += static_cast<double>(one.bytes);
    any = true;
  }
  if (any) gpu_memory_.Set(bytes, row);
}

std::size_t RankProcesses::Adopt(std::size_t parent, const Training& training, std::size_t room) {
  std::size_t left_out = 0;
  for (const std::int64_t pid : found_) {
    const auto same = [&](const ProcessFiles& process) { return process.pid() == pid; };
    if (std::ranges::any_of(processes_, same)) continue;
    // The process is another rank's, or a child of this rank that registered, too.
    const auto other = training.find(pid);
    if (other != training.end() && other->second != device_) continue;
    if (processes_.size() >= room) {
      ++left_out;
      continue;
    }
    auto process = ProcessFiles::Open(root_, pid, processes_[parent].pid());
    if (process) processes_.push_back(std::move(*process));
  }
  found_.clear();
  return left_out;
}

std::size_t RankProcesses::Walk(bool threads, const Training& training, std::size_t room) {
  if (processes_.empty()) return 0;
  std::size_t left_out = 0, first = 0;
  if (threads && thread_ && thread_->children && thread_->children->Into(found_)) {
    left_out += Adopt(0, training, room);
    first = 1;  // its first thread's children are already added
  }
  // The loop also walks the processes that it finds.
  for (std::size_t i = first; i < processes_.size(); ++i) {
    processes_[i].ChildrenInto(found_);
    left_out += Adopt(i, training, room);
  }
  return left_out;
}

}  // namespace stepscope
