#include "server/report/picture/pictures.h"

namespace stepscope {
namespace {

// Sentences are broken into lines, numbers are not.
bool IsLong(const Markup& cell) {
  return cell.text().size() > 40 && cell.text().find("<s") == std::string::npos;
}

}  // namespace

Markup InFrame(const PictureFrame& frame, const Markup& picture) {
  Markup below;
  for (const std::string& word : frame.below) below += Element("span", word);
  const Markup scale = Element("div", {{"class", "scale"}},
                               Element("span", frame.top) + Element("span", frame.bottom));
  const Markup chart = Element("div", {{"class", "chart"}},
                               scale + picture + Element("div", {{"class", "below"}}, below));
  return Element("figure", Element("figcaption", frame.title) + chart + frame.note);
}

Markup ScrollTable(const std::string& title, const std::vector<std::string>& heads,
                   const std::vector<std::vector<Markup>>& rows) {
  Markup head, body;
  for (const std::string& word : heads) head += Element("th", {{"scope", "col"}}, Text(word));
  for (const std::vector<Markup>& row : rows) {
    Markup cells;
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells +=
          i == 0
              ? Element("th", {{"scope", "row"}}, row[i])
              : Element("td", {{"class", IsLong(row[i]) ? "words" : ""}, {"data-label", heads[i]}},
                        row[i]);
    }
    body += Element("tr", cells);
  }
  const Markup table =
      Element("table", Element("thead", Element("tr", head)) + Element("tbody", body));
  return Element("div",
                 {{"class", "scroll"},
                  {"role", "region"},
                  {"tabindex", "0"},
                  {"aria-label", title + ", table"}},
                 table);
}

}  // namespace stepscope
