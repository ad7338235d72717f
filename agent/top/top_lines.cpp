#include "agent/top/top_lines.h"

#include <algorithm>
#include <cmath>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostFlows = 4;
constexpr std::size_t kMostCoreLines = 8;
constexpr std::size_t kCoreCell = 20;

std::string Plain(const std::string& text, std::size_t most) {
  std::string plain = Printable(text, most);
  std::ranges::replace_if(
      plain, [](char c) { return c < ' ' || c > '~'; }, '?');
  return plain.substr(0, most);
}

std::string Percent(double percent) {
  return std::isfinite(percent) ? Format("{:3.0f} %", percent) : "  - %";
}

std::string Bytes(double bytes) {
  if (!std::isfinite(bytes)) return "-";
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return Format("{:.{}f} {}", bytes, unit == 0 || bytes >= 100 ? 0 : 1, kUnits[unit]);
}

std::string Span(Duration span) {
  const double seconds = ToSeconds(span);
  if (seconds < 0.001) return Format("{:.0f} us", seconds * 1e6);
  if (seconds < 1) return Format("{:.1f} ms", seconds * 1e3);
  return Format("{:.2f} s", seconds);
}

const char* ColourOf(double percent) {
  if (percent >= 85) return "\x1b[31m";
  return percent >= 60 ? "\x1b[33m" : "\x1b[32m";
}

// A bar of `width` columns, with its brackets.
std::string Bar(double percent, std::size_t width, const TopStyle& style) {
  const std::size_t room = width - 2;
  const double share = std::isfinite(percent) ? std::clamp(percent / 100, 0.0, 1.0) : 0;
  const auto filled = static_cast<std::size_t>(std::lround(share * static_cast<double>(room)));
  std::string bar = style.colour ? ColourOf(percent) : "";
  for (std::size_t i = 0; i < filled; ++i) bar += style.unicode ? "█" : "#";
  if (style.colour) bar += "\x1b[0m";
  return "[" + bar + std::string(room - filled, ' ') + "]";
}

// Cuts a line to so many columns: bytes that continue a character and colour sequences take none.
std::string Cut(const std::string& line, std::size_t columns) {
  std::size_t places = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      i = line.find('m', i);
      continue;
    }
    if ((static_cast<unsigned char>(line[i]) & 0xc0) == 0x80) continue;
    if (places++ == columns) return line.substr(0, i) + (line.find('\x1b') < i ? "\x1b[0m" : "");
  }
  return line;
}

// The number of lines that each part of the node may take.
struct Room {
  std::size_t cores = kMostCoreLines, gpus = 0, disks = kMostFlows, networks = kMostFlows;
};

// Takes a line from the largest part that can give one, from the GPUs last; false when none can.
bool Shrink(Room& room, std::size_t rows) {
  std::size_t* const largest = std::ranges::max({&room.cores, &room.disks, &room.networks}, {},
                                                [](const std::size_t* lines) { return *lines; });
  if (*largest > 1) return --*largest, true;
  if (room.gpus <= std::max<std::size_t>(1, rows / 4)) return false;
  return --room.gpus, true;
}

std::string AndMore(std::size_t all, std::size_t shown) {
  return all > shown ? Format("  and {} more", all - shown) : "";
}

class Page {
 public:
  Page(const TopView& view, const TopStyle& style) : view_(view), style_(style) {
    room_.gpus = view.gpus.size();
    if (style.rows > 0) room_.cores = std::max<std::size_t>(1, style.rows / 3);
  }

  std::vector<std::string> Lines() {
    Draw();
    while (TooLong() && Shrink(room_, style_.rows)) Draw();
    if (TooLong()) CutEnd();
    return std::move(lines_);
  }

 private:
  bool TooLong() const { return style_.rows > 0 && lines_.size() > style_.rows; }

  void Draw() {
    lines_.clear();
    Head();
    Cores();
    Gpus();
    Memory();
    Flows("disk", "read", "write", view_.disks, room_.disks);
    Flows("net", "in", "out", view_.networks, room_.networks);
    Jobs();
  }

  void CutEnd() {
    const std::size_t left = lines_.size() - style_.rows + 1;
    lines_.resize(style_.rows);
    if (style_.rows > 1) lines_.back() = Cut(Format("  {} more lines", left), style_.columns);
  }

  void Add(const std::string& line) { lines_.push_back(Cut(line, style_.columns)); }

  void Head() {
    Add(Format("{}  {}  cpu {}  wait {}  load {}", Plain(view_.node, 63), ToRfc3339(view_.at),
               Percent(view_.cpu_percent), Percent(view_.iowait_percent),
               std::isfinite(view_.load) ? Format("{:.2f}", view_.load) : "-"));
  }

  // The mean of each group of neighbouring cores.
  std::string CoreCell(std::size_t from, std::size_t to) const {
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += view_.core_percents[i];
    const double mean = sum / static_cast<double>(to - from);
    const std::string name = to - from == 1 ? Format("{}", from) : Format("{}-{}", from, to - 1);
    return Format("{:>7} {}{}", name, Bar(mean, 6, style_), Percent(mean));
  }

  void Cores() {
    const std::size_t cores = view_.core_percents.size();
    const std::size_t across = std::max<std::size_t>(1, style_.columns / kCoreCell);
    const std::size_t most_cells = across * room_.cores;
    const std::size_t group = (cores + most_cells - 1) / most_cells;
    std::string line;
    for (std::size_t from = 0, cell = 0; from < cores; from += group) {
      line += CoreCell(from, std::min(from + group, cores)) + " ";
      if (++cell % across != 0) continue;
      Add(line);
      line.clear();
    }
    if (!line.empty()) Add(line);
  }

  void Gpus() {
    for (std::size_t i = 0; i < room_.gpus; ++i) {
      const TopView::Gpu& gpu = view_.gpus[i];
      std::string line =
          Format("{:<7} {} {}  {} of {}", Plain(gpu.name, 12), Bar(gpu.percent, 12, style_),
                 Percent(gpu.percent), Bytes(gpu.used_bytes), Bytes(gpu.total_bytes));
      if (std::isfinite(gpu.watts)) line += Format("  {:.0f} W", gpu.watts);
      if (std::isfinite(gpu.celsius)) line += Format("  {:.0f} C", gpu.celsius);
      if (i + 1 == room_.gpus) line += AndMore(view_.gpus.size(), room_.gpus);
      Add(line);
    }
  }

  void Memory() {
    const double percent = 100 * view_.memory_used / view_.memory_total;
    Add(Format("memory  {} {}  {} of {}  swap {}", Bar(percent, 12, style_), Percent(percent),
               Bytes(view_.memory_used), Bytes(view_.memory_total), Bytes(view_.swap_used)));
  }

  // The busiest devices, as many as there is room for.
  void Flows(const char* kind, const char* in, const char* out,
             const std::vector<TopView::Flow>& flows, std::size_t most) {
    const auto moved = [](const TopView::Flow& flow) {
      return (std::isfinite(flow.in) ? flow.in : 0) + (std::isfinite(flow.out) ? flow.out : 0);
    };
    std::vector<TopView::Flow> shown = flows;
    std::ranges::stable_sort(shown, std::greater(), moved);
    shown.resize(std::min(shown.size(), most));
    for (const TopView::Flow& flow : shown) {
      std::string line = Format("{:<4} {:<12} {} {}/s  {} {}/s", kind, Plain(flow.name, 12), in,
                                Bytes(flow.in), out, Bytes(flow.out));
      if (std::isfinite(flow.busy_percent)) line += Format("  busy {}", Percent(flow.busy_percent));
      if (&flow == &shown.back()) line += AndMore(flows.size(), shown.size());
      Add(line);
    }
  }

  void Jobs() {
    if (!view_.remark.empty()) Add(Plain(view_.remark, 200));
    for (const TopJob& job : view_.jobs) {
      Add("");
      Add(Format(
          "job {}  {} ranks", Plain(job.job, 63),
          job.ranks.size() + static_cast<std::size_t>(std::max<std::int64_t>(job.more_ranks, 0))));
      if (!job.ranks.empty()) Add("  rank     pid      step      time  phases");
      for (const LiveRank& rank : job.ranks) Add(RankLine(rank));
      if (job.more_ranks > 0) Add(Format("  {} more ranks", job.more_ranks));
    }
  }

  std::string RankLine(const LiveRank& rank) const {
    const std::string start = Format("  {:>4} {:>7}", rank.rank, rank.pid);
    if (rank.step < 0) return start + "  no step yet";
    std::string line = Format("{} {:>9} {:>9} ", start, rank.step, Span(rank.wall));
    std::vector<std::pair<double, std::string>> shares;
    for (std::size_t i = 0; i < kPhaseCount; ++i) {
      const double share = 100 * ToSeconds(rank.phases[i]) / std::max(1e-9, ToSeconds(rank.wall));
      if (share >= 0.5) shares.emplace_back(share, ToText(static_cast<Phase>(i)));
    }
    std::ranges::stable_sort(shares, std::greater(), &std::pair<double, std::string>::first);
    for (const auto& [share, name] : shares)
      line += Format(" {} {:.0f} %", name, std::min(share, 999.0));
    const Duration age = view_.at - rank.at;
    if (age > 10s) line += Format("  (none for {:.0f} s)", ToSeconds(age));
    return line;
  }

  const TopView& view_;
  const TopStyle& style_;
  Room room_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> LinesOf(const TopView& view, const TopStyle& style) {
  return Page(view, style).Lines();
}

}  // namespace stepscope
