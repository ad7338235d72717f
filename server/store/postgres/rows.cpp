#include "server/store/postgres/rows.h"

#include <cmath>

#include "core/base/text.h"
#include "server/store/postgres/binary.h"
#include "server/store/postgres/type_numbers.h"

namespace stepscope {

std::size_t Rows::size() const {
  return cells_ ? cells_->size() : 0;
}

bool Rows::IsNull(std::size_t row, std::size_t column) const {
  return cells_->IsNull(row, column);
}

std::string Rows::Text(std::size_t row, std::size_t column) const {
  const std::string_view bytes = cells_->At(row, column);
  const unsigned type = cells_->Type(column);
  if (IsNull(row, column)) return {};
  if (type == type_number::kJsonb)
    return std::string(bytes.substr(1));  // skips the version byte of jsonb
  if (type == type_number::kBool) return bytes[0] != 0 ? "true" : "false";
  if (IsInteger(type)) return std::to_string(Int(row, column));
  if (IsReal(type)) return Format("{}", Real(row, column));
  return std::string(bytes);
}

std::int64_t Rows::Int(std::size_t row, std::size_t column) const {
  const std::string_view bytes = cells_->At(row, column);
  const unsigned type = cells_->Type(column);
  if (IsNull(row, column)) return 0;
  if (IsInteger(type)) return ReadBig(bytes.data(), static_cast<int>(bytes.size()));
  if (IsReal(type)) return std::llround(ReadReal(type, bytes.data()));
  const Result<std::int64_t> number = ParseInt(bytes, "cell");
  return number ? *number : 0;
}

double Rows::Real(std::size_t row, std::size_t column) const {
  const unsigned type = cells_->Type(column);
  if (IsNull(row, column)) return 0;
  if (IsReal(type)) return ReadReal(type, cells_->At(row, column).data());
  return static_cast<double>(Int(row, column));
}

bool Rows::Bool(std::size_t row, std::size_t column) const {
  return Int(row, column) != 0;
}

std::string_view Rows::BytesView(std::size_t row, std::size_t column) const {
  return cells_->At(row, column);
}

std::string Rows::Bytes(std::size_t row, std::size_t column) const {
  return std::string(cells_->At(row, column));
}

}  // namespace stepscope
