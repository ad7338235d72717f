#pragma once

#include <string>
#include <string_view>

#include "server/report/page/report.h"

namespace stepscope {

// One file that needs nothing else: styles and pictures are in it, scripts are not. Light and dark
// as the reader's system is, and light on paper.
std::string ToHtml(const Report& report);

// What a browser may do with it: show it. The file says so itself, too.
inline constexpr std::string_view kReportPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action "
    "'none'";

}  // namespace stepscope
