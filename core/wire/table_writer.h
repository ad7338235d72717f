#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/model/table.h"

namespace stepscope {

// EncodeTable of table_codec.h for a table that is not in memory as a whole: columns are requested
// in their order, and each is used until the next is requested.
using ColumnAt = std::function<const Column&(std::size_t column)>;
std::string EncodeColumns(std::size_t rows, std::size_t columns, const ColumnAt& column_at);

}  // namespace stepscope
