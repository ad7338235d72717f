#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace stepscope {

// JSON written as text, for answers with thousands of numbers. Each value gets a comma in front
// unless it is the first.
void AppendInt(std::string& values, std::int64_t value);
void AppendReal(std::string& values, double value);  // with four decimals, those of Rounded()
void AppendNull(std::string& values);

// An object's text with more members behind those that it has; their values are JSON already.
std::string WithMembers(std::string object,
                        std::initializer_list<std::pair<std::string_view, std::string_view>> more);

}  // namespace stepscope
