#pragma once

#include <string>
#include <string_view>

#include "server/report/page/report.h"

namespace stepscope {

// The report as one file that needs nothing else: styles and pictures are in it, scripts are not.
// It is light or dark as the reader's system, and light on paper.
std::string ToHtml(const Report& report);

// The content security policy: a browser may only show the file. The file has the policy in itself,
// too.
inline constexpr std::string_view kReportPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action "
    "'none'";

}  // namespace stepscope
