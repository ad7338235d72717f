#include "agent/host/process_text.h"

#include "agent/collect/scan.h"

namespace stepscope {

std::optional<ProcessStat> ParseProcessStat(std::string_view text) {
  // A program may give itself a name with blanks and brackets.
  const std::size_t open = text.find('('), close = text.rfind(')');
  if (open == text.npos || close == text.npos || close < open) return std::nullopt;
  ProcessStat stat;
  stat.name = text.substr(open + 1, close - open - 1);
  std::string_view rest = text.substr(close + 1);
  rest = rest.substr(0, rest.find('\n'));
  const std::string_view state = TakeWord(rest);
  if (state.size() != 1) return std::nullopt;
  stat.state = state[0];
  // The numbers of the fields are those of proc(5).
  constexpr int kParent = 4, kUser = 14, kSystem = 15;
  for (int field = kParent; field <= kSystem; ++field) {
    std::string_view word = TakeWord(rest);
    if (field != kParent && field < kUser) continue;
    const auto number = TakeNumber(word);
    if (!number) return std::nullopt;
    if (field == kParent) stat.parent = static_cast<std::int64_t>(*number);
    if (field >= kUser) stat.cpu_ticks += *number;
  }
  return stat;
}

bool HasEnded(const ProcessStat& stat) {
  return stat.state == 'Z' || stat.state == 'X' || stat.state == 'x';
}

std::optional<std::uint64_t> ParseProcessStart(std::string_view text) {
  const std::size_t close = text.rfind(')');
  if (close == text.npos) return std::nullopt;
  std::string_view rest = text.substr(close + 1);
  constexpr int kState = 3, kStart = 22;
  for (int field = kState; field < kStart; ++field) TakeWord(rest);
  std::string_view word = TakeWord(rest);
  return TakeNumber(word);
}

std::optional<ProcessIo> ParseProcessIo(std::string_view text) {
  std::optional<std::uint64_t> read, written;
  std::string_view line;
  while (TakeLine(text, line)) {
    const std::string_view name = TakeWord(line);
    if (name == "read_bytes:") read = TakeNumber(line);
    if (name == "write_bytes:") written = TakeNumber(line);
  }
  if (!read || !written) return std::nullopt;
  return ProcessIo{*read, *written};
}

std::optional<ProcessMemory> ParseProcessMemory(std::string_view text) {
  TakeWord(text);
  const auto resident = TakeNumber(text), shared = TakeNumber(text);
  if (!resident || !shared) return std::nullopt;
  return ProcessMemory{*resident, *shared};
}

void ParseChildren(std::string_view text, std::vector<std::int64_t>& pids) {
  while (const auto pid = TakeNumber(text)) pids.push_back(static_cast<std::int64_t>(*pid));
}

bool IsLoaderCommand(std::string_view words, std::string_view parent) {
  using namespace std::string_view_literals;
  return !words.empty() &&
         (words == parent || words.find("\0--multiprocessing-fork\0"sv) != words.npos);
}

}  // namespace stepscope
