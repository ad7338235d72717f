#include "server/report/text/markup.h"

#include <algorithm>
#include <cassert>

#include "core/base/text.h"

namespace stepscope {
namespace {

// Elements that have no end tag in HTML; all others have one, for a browser takes "<b/>" as open.
constexpr std::string_view kVoid[] = {"meta", "br", "col", "rect", "line", "path", "circle"};

void AppendEscaped(std::string& text, std::string_view plain) {
  for (const char letter : ValidUtf8(plain)) {
    switch (letter) {
      case '&':
        text += "&amp;";
        break;
      case '<':
        text += "&lt;";
        break;
      case '>':
        text += "&gt;";
        break;
      case '"':
        text += "&quot;";
        break;
      case '\'':
        text += "&#39;";
        break;
      default:
        text += letter;
    }
  }
}

}  // namespace

Markup Text(std::string_view plain) {
  Markup markup;
  AppendEscaped(markup.text_, plain);
  return markup;
}

Markup Element(std::string_view tag, std::initializer_list<Attribute> attributes,
               const Markup& inside) {
  Markup markup;
  std::string& text = markup.text_;
  text.append("<").append(tag);
  for (const Attribute& attribute : attributes) {
    if (attribute.value.empty()) continue;
    text.append(" ").append(attribute.name).append("=\"");
    AppendEscaped(text, attribute.value);
    text.append("\"");
  }
  if (std::ranges::find(kVoid, tag) != std::end(kVoid)) {
    assert(inside.empty());
    text.append("/>");
    return markup;
  }
  text.append(">").append(inside.text_).append("</").append(tag).append(">");
  return markup;
}

Markup Element(std::string_view tag, const Markup& inside) {
  return Element(tag, {}, inside);
}

Markup Element(std::string_view tag, std::string_view plain) {
  return Element(tag, {}, Text(plain));
}

Markup Style(std::string_view css) {
  assert(css.find('<') == css.npos && css.find('&') == css.npos);
  Markup markup;
  markup.text_.append("<style>").append(css).append("</style>");
  return markup;
}

}  // namespace stepscope
