#include "core/wire/column_codec.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

namespace stepscope {
namespace {

// The tag in front of a column.
constexpr std::uint8_t kDeltas = 1;      // else frame of reference
constexpr std::uint8_t kPresence = 2;    // a bitmap follows
constexpr std::uint8_t kCompressed = 4;  // the planes are compressed by zstd
constexpr std::uint8_t kKnownTags = kDeltas | kPresence | kCompressed;

// Below this zstd cannot win over its own header.
constexpr std::size_t kWorthCompressing = 128;

using Numbers = std::vector<std::uint64_t>;

// `value = base + divisor x quotient`, modulo 2^64 throughout, so that no value overflows.
struct Packed {
  std::uint64_t first = 0;  // of deltas: the first value itself
  std::int64_t base = 0;
  std::uint64_t divisor = 0;  // 0: all quotients are 0 and none are stored
  int width = 0;              // bytes of a quotient
  Numbers quotients;

  std::size_t bytes() const { return quotients.size() * static_cast<std::size_t>(width); }
};

int WidthOf(std::uint64_t largest) {
  return (64 - std::countl_zero(largest) + 7) / 8;
}

Packed Pack(Numbers numbers) {
  Packed packed;
  if (numbers.empty()) return packed;
  const auto as_signed = [](std::uint64_t number) { return static_cast<std::int64_t>(number); };
  packed.base = as_signed(std::ranges::min(numbers, {}, as_signed));
  for (std::uint64_t& number : numbers) {
    number -= static_cast<std::uint64_t>(packed.base);
    packed.divisor = std::gcd(packed.divisor, number);
  }
  if (packed.divisor == 0) return packed;
  std::uint64_t largest = 0;
  for (std::uint64_t& number : numbers) largest = std::max(largest, number /= packed.divisor);
  packed.width = WidthOf(largest);
  packed.quotients = std::move(numbers);
  return packed;
}

Packed PackDeltas(const Numbers& numbers) {
  Numbers deltas(numbers.size() - 1);
  for (std::size_t i = 0; i < deltas.size(); ++i) deltas[i] = numbers[i + 1] - numbers[i];
  Packed packed = Pack(std::move(deltas));
  packed.first = numbers[0];
  return packed;
}

std::string ToPlanes(const Packed& packed) {
  std::string planes;
  planes.reserve(packed.bytes());
  for (int plane = 0; plane < packed.width; ++plane) {
    for (const std::uint64_t quotient : packed.quotients) {
      planes += static_cast<char>(quotient >> (8 * plane));
    }
  }
  return planes;
}

Numbers FromPlanes(std::string_view planes, std::size_t count, int width) {
  Numbers quotients(count);
  for (int plane = 0; plane < width; ++plane) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto byte =
          static_cast<std::uint8_t>(planes[static_cast<std::size_t>(plane) * count + i]);
      quotients[i] |= static_cast<std::uint64_t>(byte) << (8 * plane);
    }
  }
  return quotients;
}

Numbers PresentValues(const Column& column) {
  Numbers numbers;
  numbers.reserve(column.values.size());
  for (std::size_t row = 0; row < column.values.size(); ++row) {
    if (column.Has(row)) numbers.push_back(static_cast<std::uint64_t>(column.values[row]));
  }
  return numbers;
}

std::string ToBitmap(std::span<const std::uint8_t> present) {
  std::string bitmap((present.size() + 7) / 8, '\0');
  for (std::size_t row = 0; row < present.size(); ++row) {
    if (present[row] != 0) bitmap[row / 8] = static_cast<char>(bitmap[row / 8] | (1 << (row % 8)));
  }
  return bitmap;
}

std::vector<std::uint8_t> FromBitmap(std::string_view bitmap, std::size_t rows) {
  std::vector<std::uint8_t> present(rows);
  for (std::size_t row = 0; row < rows; ++row) present[row] = (bitmap[row / 8] >> (row % 8)) & 1;
  return present;
}

// The quotients as they stand behind the head of a column; empty when they are all 0.
Result<Numbers> TakeQuotients(ByteReader& reader, std::uint8_t tag, std::size_t count,
                              bool stored) {
  if (!stored) return Numbers(count);
  const int width = reader.Take<std::uint8_t>();
  if (width < 1 || width > 8) return Invalid("column: a width that is not 1 to 8");
  const std::size_t size = count * static_cast<std::size_t>(width);
  if ((tag & kCompressed) == 0) {
    const std::string_view planes = reader.TakeBytes(size);
    if (!reader.ok()) return Invalid("column: cut short");
    return FromPlanes(planes, count, width);
  }
  Result<std::string> planes = Decompress(reader.TakeBytes(reader.left()), size);
  if (!planes.ok()) return planes.error();
  return FromPlanes(*planes, count, width);
}

// The present values again, in the order of their rows.
Result<Numbers> TakeNumbers(ByteReader& reader, std::uint8_t tag, std::size_t count) {
  if (count == 0) return Numbers{};
  const bool deltas = (tag & kDeltas) != 0;
  const std::uint64_t first =
      deltas ? static_cast<std::uint64_t>(UnZigZag(reader.TakeVarint())) : std::uint64_t{0};
  const auto base = static_cast<std::uint64_t>(UnZigZag(reader.TakeVarint()));
  const std::uint64_t divisor = reader.TakeVarint();
  Result<Numbers> quotients = TakeQuotients(reader, tag, deltas ? count - 1 : count, divisor != 0);
  if (!quotients.ok()) return quotients.error();
  for (std::uint64_t& quotient : *quotients) quotient = base + divisor * quotient;
  if (!deltas) return std::move(*quotients);
  Numbers numbers = {first};
  numbers.reserve(count);
  for (const std::uint64_t delta : *quotients) numbers.push_back(numbers.back() + delta);
  return numbers;
}

// Puts the present values into their rows.
Column Spread(const Numbers& numbers, std::size_t rows, std::vector<std::uint8_t> present) {
  Column column;
  column.values.resize(rows);
  std::size_t next = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    if (present.empty() || present[row] != 0) {
      column.values[row] = static_cast<std::int64_t>(numbers[next++]);
    }
  }
  column.present = std::move(present);
  return column;
}

}  // namespace

void EncodeColumn(const Column& column, std::string& bytes, int level) {
  const Numbers numbers = PresentValues(column);
  Packed packed = Pack(numbers);
  std::uint8_t tag = numbers.size() == column.values.size() ? 0 : kPresence;
  if (numbers.size() > 1) {
    Packed deltas = PackDeltas(numbers);
    // Two bytes more for the first value: deltas must save more than that.
    if (deltas.bytes() + 2 < packed.bytes()) {
      packed = std::move(deltas);
      tag |= kDeltas;
    }
  }
  std::string planes = ToPlanes(packed);
  if (planes.size() >= kWorthCompressing) {
    if (std::string smaller = Compress(planes, level); smaller.size() < planes.size()) {
      planes = std::move(smaller);
      tag |= kCompressed;
    }
  }
  Put(bytes, tag);
  Put(bytes, column.scale);
  if ((tag & kPresence) != 0) bytes += ToBitmap(column.present);
  if (numbers.empty()) return;
  if ((tag & kDeltas) != 0) PutVarint(bytes, ZigZag(static_cast<std::int64_t>(packed.first)));
  PutVarint(bytes, ZigZag(packed.base));
  PutVarint(bytes, packed.divisor);
  if (packed.divisor == 0) return;
  Put(bytes, static_cast<std::uint8_t>(packed.width));
  bytes += planes;
}

Result<Column> DecodeColumn(std::string_view bytes, std::size_t rows) {
  ByteReader reader(bytes);
  const auto tag = reader.Take<std::uint8_t>();
  const auto scale = reader.Take<std::uint8_t>();
  if (!reader.ok()) return Invalid("column: cut short");
  if ((tag & ~kKnownTags) != 0) return Invalid("column: an encoding that is not known");
  if (scale > 18) return Invalid("column: a scale above 18");
  std::vector<std::uint8_t> present;
  std::size_t count = rows;
  if ((tag & kPresence) != 0) {
    const std::string_view bitmap = reader.TakeBytes((rows + 7) / 8);
    if (!reader.ok()) return Invalid("column: cut short");
    present = FromBitmap(bitmap, rows);
    count = static_cast<std::size_t>(std::ranges::count(present, 1));
  }
  const Result<Numbers> numbers = TakeNumbers(reader, tag, count);
  if (!numbers.ok()) return numbers.error();
  if (!reader.ok() || reader.left() != 0) return Invalid("column: wrong length");
  Column column = Spread(*numbers, rows, std::move(present));
  column.scale = scale;
  return column;
}

}  // namespace stepscope
