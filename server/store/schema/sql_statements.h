#pragma once

#include <string_view>
#include <vector>

namespace stepscope {

// The statements of a script, each without its semicolon and without what stands around it. Knows
// strings, quoted names, bodies between $$ or $name$, and comments, which stay within their
// statement; no strings of the form e'\''.
std::vector<std::string_view> SqlStatements(std::string_view script);

}  // namespace stepscope
