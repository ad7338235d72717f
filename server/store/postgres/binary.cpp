#include "server/store/postgres/binary.h"
#include "server/store/postgres/type_numbers.h"

#include <cmath>
#include <cstring>

namespace stepscope {
namespace {

// PostgreSQL's numeric: digits to the base of 10,000, as what a sum of bigint gives.
double ReadNumeric(const char* bytes) {
  const std::int64_t digits = ReadBig(bytes, 2), weight = ReadBig(bytes + 2, 2);
  double value = 0;
  for (std::int64_t i = 0; i < digits; ++i) {
    value += static_cast<double>(ReadBig(bytes + 8 + 2 * i, 2)) *
             std::pow(10'000.0, static_cast<double>(weight - i));
  }
  return ReadBig(bytes + 4, 2) == 0 ? value : -value;
}

}  // namespace

bool IsInteger(unsigned type) {
  return type == type_number::kBigint || type == type_number::kSmallint ||
         type == type_number::kInteger || type == type_number::kOid || type == type_number::kBool;
}
bool IsReal(unsigned type) {
  return type == type_number::kReal || type == type_number::kDouble ||
         type == type_number::kNumeric;
}

// Two's complement, most significant byte first.
std::int64_t ReadBig(const char* bytes, int length) {
  std::uint64_t value = length > 0 && (bytes[0] & 0x80) != 0 ? ~std::uint64_t{0} : 0;
  for (int i = 0; i < length; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return static_cast<std::int64_t>(value);
}

double ReadReal(unsigned type, const char* bytes) {
  if (type == type_number::kNumeric) return ReadNumeric(bytes);
  if (type == type_number::kReal) {
    const auto bits = static_cast<std::uint32_t>(ReadBig(bytes, 4));
    float value;
    return std::memcpy(&value, &bits, sizeof value), value;
  }
  const std::int64_t bits = ReadBig(bytes, 8);
  double value;
  return std::memcpy(&value, &bits, sizeof value), value;
}

}  // namespace stepscope
