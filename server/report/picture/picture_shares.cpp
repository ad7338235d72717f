#include <algorithm>

#include "core/base/text.h"
#include "server/report/picture/pictures.h"
#include "server/report/picture/svg.h"
#include "server/report/text/format.h"

namespace stepscope {
namespace {

constexpr double kShareWidth = 1'000, kShareHeight = 20;

std::string Describe(const Whole& whole) {
  std::string text = whole.name;
  for (const Part& part : whole.parts) {
    text += Format("{} {} {}", text.empty() ? "" : ",", part.name, FormatPercent(part.share * 100));
  }
  return text;
}

Markup Draw(const Whole& whole) {
  Svg svg(kShareWidth, kShareHeight, "bar strip", Describe(whole));
  svg.Rect(0, 0, kShareWidth, kShareHeight, "ground");
  double total = 0;
  for (const Part& part : whole.parts) total += part.share;
  const double scale = kShareWidth / std::max(total, 1.0);  // phases may lie within each other
  double x = 0;
  for (const Part& part : whole.parts) {
    svg.Rect(x, 0, part.share * scale, kShareHeight, part.css);
    if (part.css.starts_with("striped")) {
      for (double at = x + 5; at < x + part.share * scale; at += 10) {
        svg.Line(at, 0, at, kShareHeight, "stripe");
      }
    }
    x += part.share * scale;
  }
  return svg.Take();
}

Markup Key(const Part& part) {
  Svg swatch(12, 12, "swatch", part.name);
  swatch.Rect(0, 0, 12, 12, part.css);
  if (part.css.starts_with("striped")) {
    for (const double at : {3.0, 9.0}) swatch.Line(at, 0, at, 12, "stripe");
  }
  return Element("li", swatch.Take() + Text(" " + part.name));
}

// The legend: names of all rows, each once.
Markup Keys(const std::vector<Whole>& wholes) {
  std::vector<std::string> named;
  Markup list;
  for (const Whole& whole : wholes) {
    for (const Part& part : whole.parts) {
      if (std::ranges::find(named, part.name) != named.end()) continue;
      named.push_back(part.name);
      list += Key(part);
    }
  }
  return Element("ul", {{"class", "keys"}}, list);
}

std::string Words(const Whole& whole) {
  std::string words;
  for (const Part& part : whole.parts) {
    words += words.empty() ? "" : " · ";
    words += part.name + " " + FormatPercent(part.share * 100);
    if (!part.words.empty()) words += " (" + part.words + ")";
  }
  return words;
}

}  // namespace

Markup Shares(const std::string& title, const std::vector<Whole>& wholes) {
  if (wholes.empty()) return {};
  Markup rows;
  for (const Whole& whole : wholes) {
    const Markup name =
        whole.name.empty() ? Markup() : Element("span", {{"class", "whole"}}, Text(whole.name));
    rows += Element("li", {{"class", whole.name.empty() ? "" : "named"}},
                    name + Draw(whole) + Element("span", {{"class", "note"}}, Text(Words(whole))));
  }
  return Element("figure", Element("figcaption", title) + Keys(wholes) +
                               Element("ul", {{"class", "wholes"}}, rows));
}

}  // namespace stepscope
