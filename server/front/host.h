#pragma once

#include <string_view>

namespace stepscope {

// The name in a Host header: "name:port", "192.0.2.1", "[::1]:port".
std::string_view HostName(std::string_view host);

// Whether such a name is an IPv4 address, or an IPv6 one with or without its brackets.
bool IsHostAddress(std::string_view name);

}  // namespace stepscope
