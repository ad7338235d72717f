#pragma once

#include <regex.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stepscope {

// A pattern as people write it: an extended regular expression of POSIX, with \d for a digit. A
// back-reference could take for ever and is refused.
class Pattern {
 public:
  // Invalid names the fault.
  static Result<Pattern> Parse(std::string_view text);

  // Whether it holds a pair of parentheses.
  bool has_group() const { return regex_->re_nsub > 0; }

  bool Fits(const std::string& text) const;

  // The text in the first pair of parentheses; nothing where the pattern does not fit. Valid as
  // long as `text`.
  std::optional<std::string_view> Group(const std::string& text) const;

 private:
  struct Free {
    void operator()(regex_t* regex) const {
      regfree(regex);
      delete regex;
    }
  };

  std::unique_ptr<regex_t, Free> regex_;
};

}  // namespace stepscope
