#pragma once

#include <cstdint>
#include <string_view>

namespace stepscope {

// CRC-32C (Castagnoli, RFC 3720 appendix B.4). "123456789" gives 0xe3069283. `before`: of the bytes
// that stand before these.
std::uint32_t Crc32c(std::string_view bytes, std::uint32_t before = 0);

}  // namespace stepscope
