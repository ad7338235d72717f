#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

// The value codec of Facebook's Gorilla (VLDB 2015), as Prometheus and InfluxDB store values: the
// bits of each double XOR those of the one before it, without the zeros around. Times are not
// encoded.
std::string EncodeGorilla(const std::vector<std::int64_t>& bits_of_doubles);

std::vector<std::int64_t> DecodeGorilla(std::string_view bytes, std::size_t rows);

}  // namespace stepscope
