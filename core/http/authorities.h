#pragma once

#include <string>

namespace stepscope {

// The file of the authorities that everybody on this system trusts, where distributions keep it
// below `root`; "" when there is none. For an OpenSSL that was built for another distribution.
std::string FindAuthorities(const std::string& root);

}  // namespace stepscope
