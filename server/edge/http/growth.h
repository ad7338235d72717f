#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stepscope {

// Appends a piece; the text has at most `most` bytes then. The memory behind `to` is `most` halved
// again and again until it just holds what came (down to 4 KiB): a slow sender of a little holds
// little, a full text wastes nothing, and no byte is moved more than twice on average.
void AppendWithin(std::string_view bytes, std::size_t most, std::string& to);

}  // namespace stepscope
