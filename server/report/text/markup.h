#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace stepscope {

// Builds HTML or SVG that is also well-formed XML. Plain text gets in by Text() and by attributes
// alone, which escape it: there is no other way from a name of a job to a page.
class Markup {
 public:
  Markup() = default;

  Markup& operator+=(const Markup& more) {
    text_ += more.text_;
    return *this;
  }
  friend Markup operator+(Markup first, const Markup& more) {
    first += more;
    return first;
  }
  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }

 private:
  friend Markup Text(std::string_view plain);
  friend Markup Element(std::string_view, std::initializer_list<struct Attribute>, const Markup&);
  friend Markup Style(std::string_view css);

  std::string text_;
};

Markup Text(std::string_view plain);

// An attribute whose value is "" is left out.
struct Attribute {
  std::string_view name;
  std::string value;
};
Markup Element(std::string_view tag, std::initializer_list<Attribute> attributes,
               const Markup& inside = {});
Markup Element(std::string_view tag, const Markup& inside);
Markup Element(std::string_view tag, std::string_view plain);

// A style sheet from the program itself; it must have no markup in it.
Markup Style(std::string_view css);

}  // namespace stepscope
