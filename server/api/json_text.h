#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stepscope {

// JSON written as text, for answers with thousands of numbers: a tree of them costs more than what
// they say. Each value gets a comma in front unless its list begins with it.
void AppendInt(std::string& list, std::int64_t value);
// value / 10^scale, with every digit; scale is 0 to 18.
void AppendScaled(std::string& list, std::int64_t value, std::uint8_t scale);
void AppendReal(std::string& list, double value);  // with four decimals, those of Rounded()
void AppendNull(std::string& list);

// One more object of a list, or one more member of an object, that stays open for more: who opened
// it appends '}' or ']'. `object` is its text so far.
void OpenObject(std::string& list, std::string_view object);
void OpenList(std::string& object, std::string_view name);

}  // namespace stepscope
