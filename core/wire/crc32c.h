#pragma once

#include <cstdint>
#include <string_view>

namespace stepscope {

// CRC-32C (Castagnoli, RFC 3720 appendix B.4). "123456789" gives 0xe3069283.
std::uint32_t Crc32c(std::string_view bytes);

}  // namespace stepscope
