#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace stepscope {

// A file without a name on the disk of `folder`, to write and to read: it is gone with its last
// descriptor, also after kill -9. An empty descriptor, with errno, where the folder takes no file.
Descriptor OpenNamelessFile(const std::string& folder);

// Writes all bytes, from that place of the file on. Unavailable, with the words of errno, when the
// disk takes no more: some of them may be written then.
Status WriteAllAt(const Descriptor& file, std::string_view bytes, std::uint64_t at);

}  // namespace stepscope
