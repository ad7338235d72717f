#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/model/table.h"

namespace stepscope {

// EncodeTable of table_codec.h for a table that is not at hand as one: its columns are asked for in
// their order, and each is used until the next is asked for.
using ColumnAt = std::function<const Column&(std::size_t column)>;
std::string EncodeColumns(std::size_t rows, std::size_t columns, const ColumnAt& column_at);

}  // namespace stepscope
