#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stepscope {

// An http or https address, taken apart. One strict reading, so that what is checked is what is
// connected to.
struct Url {
  bool secure = false;
  std::string host;  // lower case; an IPv6 address without its brackets
  std::uint16_t port = 80;
  std::string target = "/";  // path and query, as given

  // The value of the Host header: with the port only where it is not the scheme's default.
  std::string Authority() const;
  std::string ToText() const;
};

// Refuses other schemes, user names, fragments, blanks, control and non-ASCII characters, and
// numeric hosts that are not plain IPv4 ("0x7f.1", "2130706433"). The error names the URL and the
// rule.
Result<Url> ParseUrl(std::string_view text);

// Whether the host is an IPv4 or IPv6 address rather than a name.
bool IsNumericHost(const std::string& host);

// Whether the host is this machine itself: 127.0.0.0/8, ::1 or "localhost".
bool IsLoopbackHost(const std::string& host);

}  // namespace stepscope
