// The texts of check.h: ToPlainText and ToJsonText.

#include <algorithm>

#include "agent/app/commands/check.h"
#include "core/base/json.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::string_view kWords[] = {"ok", "none", "note", "wrong"};

// The names of an area stand in a column.
std::size_t WidthOf(const std::string& area, const CheckLines& lines) {
  std::size_t width = 10;
  for (const CheckLine& line : lines) {
    if (line.area == area) width = std::max(width, line.name.size());
  }
  return width;
}

}  // namespace

std::string_view ToText(CheckResult finding) {
  return kWords[static_cast<std::size_t>(finding)];
}

bool AllIsWell(const CheckLines& lines) {
  return std::ranges::none_of(lines,
                              [](const auto& line) { return line.finding == CheckResult::kWrong; });
}

std::string ToPlainText(const CheckLines& lines) {
  std::string text, area;
  for (const CheckLine& line : lines) {
    if (line.area != area) text += Format("{}{}\n", area.empty() ? "" : "\n", line.area);
    area = line.area;
    text += Format("  {:<6} {:<{}} {}\n", ToText(line.finding), line.name,
                   WidthOf(line.area, lines), line.text);
  }
  const auto wrong = std::ranges::count(lines, CheckResult::kWrong, &CheckLine::finding);
  if (wrong == 0) return text + "\nEverything that was asked for works.\n";
  return text +
         Format("\n{} {} not work: see 'wrong'.\n", wrong, wrong == 1 ? "thing does" : "things do");
}

std::string ToJsonText(const CheckLines& lines, std::string_view version) {
  OrderedJson checks = OrderedJson::array();
  for (const CheckLine& line : lines) {
    checks.push_back({{"area", line.area},
                      {"name", line.name},
                      {"finding", ToText(line.finding)},
                      {"detail", line.text}});
  }
  return Dump(OrderedJson{
             {"ok", AllIsWell(lines)}, {"version", version}, {"checks", std::move(checks)}}) +
         "\n";
}

}  // namespace stepscope
