#include "agent/host/process_files.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "core/base/text.h"

namespace stepscope {
namespace {

// The name that torch sets from 2.6 on, but not in 1.13.
constexpr std::string_view kLoaderName = "pt_data_worker";

}  // namespace

std::optional<std::string_view> TextOf(Result<Source>& source) {
  if (!source) return std::nullopt;
  const auto text = source->Read();
  if (text) return *text;
  source = text.error();
  return std::nullopt;
}

std::vector<std::int64_t> Pids(const std::string& root) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir((root + "/proc").c_str()), closedir);
  std::vector<std::int64_t> pids;
  while (const dirent* entry = folder ? readdir(folder.get()) : nullptr) {
    if (const auto pid = ParseInt(entry->d_name, "pid"); pid && *pid > 0) pids.push_back(*pid);
  }
  std::ranges::sort(pids);
  return pids;
}

std::string ProcessFolder(std::int64_t pid) {
  return Format("/proc/{}/", pid);
}

std::string ProcessCommand(const std::string& root, std::int64_t pid) {
  auto source = Source::Open(root, ProcessFolder(pid) + "cmdline");
  return std::string(TextOf(source).value_or(""));
}

std::optional<std::uint64_t> ResidentBytes(const std::string& root, std::int64_t pid) {
  auto source = Source::Open(root, ProcessFolder(pid) + "statm");
  const auto text = TextOf(source);
  const auto memory = text ? ParseProcessMemory(*text) : std::nullopt;
  if (!memory) return std::nullopt;
  return memory->resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

double PercentPerTick() {
  return 100.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
}

ProcessFiles::ProcessFiles(const std::string& root, std::int64_t pid, Source stat)
    : root_(root),
      pid_(pid),
      stat_(std::move(stat)),
      io_(Source::Open(root, ProcessFolder(pid) + "io")),
      children_(Source::Open(root, Format("{}task/{}/children", ProcessFolder(pid), pid))) {}

std::optional<ProcessFiles> ProcessFiles::Open(const std::string& root, std::int64_t pid,
                                               std::int64_t parent) {
  auto source = Source::Open(root, ProcessFolder(pid) + "stat");
  if (!source) return std::nullopt;
  const auto text = source->Read();
  const auto stat = text ? ParseProcessStat(*text) : std::nullopt;
  if (!stat || HasEnded(*stat)) return std::nullopt;
  if (parent != 0 && stat->parent != parent) return std::nullopt;
  return ProcessFiles(root, pid, std::move(*source));
}

std::optional<ProcessUse> ProcessFiles::Read(SteadyTime now, std::string_view command, bool io) {
  const auto text = stat_.Read();
  const auto stat = text ? ParseProcessStat(*text) : std::nullopt;
  if (!stat || HasEnded(*stat)) return std::nullopt;
  ProcessUse use{.state = stat->state, .loader = IsLoader(*stat, command)};
  if (const auto ticks = cpu_ticks_.Rate(stat->cpu_ticks, now)) {
    use.cpu_percent = *ticks * PercentPerTick();
  }
  if (use.loader) ReadWaiting(now, use);
  if (io) ReadIo(now, use);
  return use;
}

// A loader works in its first thread.
void ProcessFiles::ReadWaiting(SteadyTime now, ProcessUse& use) {
  if (!run_time_) run_time_.emplace(Source::Open(root_, ProcessFolder(pid_) + "schedstat"));
  std::string_view words = TextOf(*run_time_).value_or("");
  TakeNumber(words);
  const auto waited = TakeNumber(words);
  const auto rate = waited ? waited_.Rate(*waited, now) : std::nullopt;
  if (rate) use.waiting_percent = *rate * kPercentOfNanos;
}

void ProcessFiles::ReadIo(SteadyTime now, ProcessUse& use) {
  const auto text = TextOf(io_);
  const auto io = text ? ParseProcessIo(*text) : std::nullopt;
  if (!io) return;
  use.read_bytes_per_second = read_bytes_.Rate(io->read_bytes, now);
  use.write_bytes_per_second = write_bytes_.Rate(io->write_bytes, now);
}

// A loader is known by its name; else by its command line, once it is old enough not to be about to
// start another program.
bool ProcessFiles::IsLoader(const ProcessStat& stat, std::string_view command) {
  constexpr int kOld = 2;
  if (stat.name == kLoaderName) loader_ = true;
  if (++readings_ != kOld || loader_ || command.empty()) return loader_;
  return loader_ = IsLoaderCommand(ProcessCommand(root_, pid_), command);
}

void ProcessFiles::ChildrenInto(std::vector<std::int64_t>& pids) {
  if (const auto text = TextOf(children_)) ParseChildren(*text, pids);
}

}  // namespace stepscope
