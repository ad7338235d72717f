#pragma once

#include <string>

namespace stepscope {

// The system's file of trusted certificate authorities, where distributions keep it below `root`;
// "" when there is none. For an OpenSSL that was built for another distribution.
std::string FindAuthorities(const std::string& root);

}  // namespace stepscope
