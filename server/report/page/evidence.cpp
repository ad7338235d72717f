// The numbers of a verdict, whatever rule they are of: a new rule needs no line here.

#include <algorithm>

#include "core/base/text.h"
#include "rules/engine/sentence.h"
#include "server/report/page/sections.h"
#include "server/report/picture/pictures.h"
#include "server/report/text/format.h"
#include "server/report/text/natural_order.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostRows = 16;
// Members that are shown elsewhere, or are not for people.
constexpr std::string_view kLeftOut[] = {"advice", "triggers", "window", "findings_left_out"};

std::string Unit(std::string_view key) {
  if (key.ends_with("percent")) return "%";
  if (key.ends_with("seconds")) return "s";
  if (key.ends_with("bytes")) return "bytes";
  return "";
}

// The name that implies the unit of a member: its own, or that of the object around it.
std::string_view KeyOf(std::string_view outer, std::string_view name) {
  const bool own = !Unit(name).empty() || name.ends_with("_us") || outer.empty();
  return own ? name : outer;
}

// {"p50": 0.1, "p99": 0.2} of "seconds" -> "p50 100 ms, p99 200 ms". Lists in lists are told apart
// by semicolons.
std::string Words(std::string_view key, const OrderedJson& value) {
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() && key.ends_with("_us")) return FormatTime(value.get<std::int64_t>());
  if (value.is_number()) return FormatValue(value.get<double>(), Unit(key));
  if (value.is_null()) return std::string(kNothing);
  std::string words;
  for (const auto& [name, member] : value.items()) {
    const bool nested = member.is_object() || member.is_array();
    words += words.empty() ? "" : nested ? "; " : ", ";
    const std::string said = Words(value.is_object() ? KeyOf(key, name) : key, member);
    words += value.is_object() ? FormatKey(name) + " " + said : said;
  }
  return words.empty() ? std::string(kNothing) : words;
}

bool IsTable(const OrderedJson& value) {
  return value.is_array() && !value.empty() && value[0].is_object();
}

// The subject of a row comes first.
std::vector<std::string> KeysOf(const OrderedJson& row) {
  constexpr std::string_view kSubject[] = {"rank", "node", "device"};
  std::vector<std::string> keys;
  for (const std::string_view name : kSubject) {
    if (row.contains(name)) keys.emplace_back(name);
  }
  for (const auto& [name, value] : row.items()) {
    if (std::ranges::find(kSubject, name) == std::end(kSubject)) keys.push_back(name);
  }
  return keys;
}

// Sorts rows that rules keep in the order of their nodes' names as people count them; others stay
// as they are.
OrderedJson InOrder(const OrderedJson& list) {
  const auto node = [](const OrderedJson& row) {
    const auto found = row.find("node");
    return found != row.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  std::vector<OrderedJson> rows(list.begin(), list.end());
  if (std::ranges::is_sorted(rows, {}, node)) std::ranges::stable_sort(rows, IsBefore, node);
  return rows;
}

Markup EvidenceTable(const std::string& key, const OrderedJson& list) {
  const std::vector<std::string> keys = KeysOf(list[0]);
  std::vector<std::string> heads;
  for (const std::string& name : keys) heads.push_back(FormatKey(name));
  std::vector<std::vector<Markup>> rows;
  for (const OrderedJson& row : InOrder(list)) {
    if (rows.size() == kMostRows) break;
    std::vector<Markup>& cells = rows.emplace_back();
    for (const std::string& name : keys) {
      const auto found = row.find(name);
      cells.push_back(Text(found == row.end() ? std::string(kNothing) : Words(name, *found)));
    }
  }
  Markup table = Element("p", {{"class", "note"}}, Text(FormatKey(key))) +
                 ScrollTable(FormatKey(key), heads, rows);
  if (list.size() > kMostRows) {
    table += Element(
        "p", {{"class", "note"}},
        Text(Format("{} more rows are in the JSON of this report.", list.size() - kMostRows)));
  }
  return table;
}

}  // namespace

Markup EvidenceBlock(const OrderedJson& evidence, bool open) {
  if (!evidence.is_object()) return {};
  Markup single, tables;
  for (const auto& [key, value] : evidence.items()) {
    if (std::ranges::find(kLeftOut, key) != std::end(kLeftOut)) continue;
    if (IsTable(value)) {
      tables += EvidenceTable(key, value);
    } else if (!(value.is_array() && value.empty())) {
      single += Element("div", Element("dt", FormatKey(key)) + Element("dd", Words(key, value)));
    }
  }
  if (single.empty() && tables.empty()) return {};
  if (!single.empty()) single = Element("dl", {{"class", "facts"}}, single);
  return Element("details", {{"open", open ? "open" : ""}},
                 Element("summary", "Numbers") + single + tables);
}

}  // namespace stepscope
