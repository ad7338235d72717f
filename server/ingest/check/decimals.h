#pragma once

#include <cstdint>
#include <string_view>

namespace stepscope {

// Decimal places that a JSON number needs to be written in full: 2 for 41.27, 41.270 and 4127e-2, 0
// for 1e3.
int DecimalsOf(std::string_view number);

// The scale of a column: as many decimals as its values are written with, when that is at most nine
// and the largest of them stays exact; else what keeps nine significant digits of the largest.
std::uint8_t ChooseScale(int decimals, double largest);

}  // namespace stepscope
