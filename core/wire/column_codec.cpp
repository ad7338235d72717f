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

// How values come from their quotients, modulo 2^64.
struct Spacing {
  std::uint64_t base = 0, divisor = 0;

  std::int64_t ValueOf(std::uint64_t quotient) const {
    return static_cast<std::int64_t>(base + divisor * quotient);
  }
};

using Values = std::span<std::int64_t>;

// All planes at once, so that each value is written once.
template <std::size_t kWidth>
void FromPlanes(std::string_view planes, Spacing spacing, Values values) {
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t quotient = 0;
    for (std::size_t plane = 0; plane < kWidth; ++plane) {
      const auto byte = static_cast<std::uint8_t>(planes[plane * count + i]);
      quotient |= std::uint64_t{byte} << (8 * plane);
    }
    values[i] = spacing.ValueOf(quotient);
  }
}
constexpr decltype(&FromPlanes<1>) kFromPlanes[] = {FromPlanes<1>, FromPlanes<2>, FromPlanes<3>,
                                                    FromPlanes<4>, FromPlanes<5>, FromPlanes<6>,
                                                    FromPlanes<7>, FromPlanes<8>};

// The planes as they stand behind the head of a column.
Status TakePlanes(ByteReader& reader, std::uint8_t tag, Spacing spacing, Values values) {
  if (spacing.divisor == 0) return std::ranges::fill(values, spacing.ValueOf(0)), Status();
  const auto width = reader.Take<std::uint8_t>();
  if (width < 1 || width > 8) return Invalid("column: a width that is not 1 to 8");
  const auto from_planes = kFromPlanes[width - 1];
  const std::size_t size = values.size() * width;
  if ((tag & kCompressed) == 0) {
    const std::string_view planes = reader.TakeBytes(size);
    if (!reader.ok()) return Invalid("column: cut short");
    return from_planes(planes, spacing, values), Status();
  }
  const Result<std::string> planes = Decompress(reader.TakeBytes(reader.left()), size);
  if (!planes.ok()) return planes.error();
  return from_planes(*planes, spacing, values), Status();
}

// The present values again, in the order of their rows.
Status TakeValues(ByteReader& reader, std::uint8_t tag, Values values) {
  if (values.empty()) return {};
  const bool deltas = (tag & kDeltas) != 0;
  const std::int64_t first = deltas ? UnZigZag(reader.TakeVarint()) : 0;
  Spacing spacing;
  spacing.base = static_cast<std::uint64_t>(UnZigZag(reader.TakeVarint()));
  spacing.divisor = reader.TakeVarint();
  if (!deltas) return TakePlanes(reader, tag, spacing, values);
  if (Status taken = TakePlanes(reader, tag, spacing, values.subspan(1)); !taken) return taken;
  auto sum = static_cast<std::uint64_t>(first);
  values[0] = first;
  for (std::int64_t& value : values.subspan(1)) {
    sum += static_cast<std::uint64_t>(value);
    value = static_cast<std::int64_t>(sum);
  }
  return {};
}

// The first values, which are the present ones, into their rows; from the end, so that none is
// overwritten before it was moved.
void Spread(std::size_t count, const std::vector<std::uint8_t>& present, Values values) {
  for (std::size_t row = values.size(); row-- > 0;) {
    values[row] = present[row] != 0 ? values[--count] : 0;
  }
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
  Column column{.scale = scale, .values = {}, .present = {}};
  std::size_t count = rows;
  if ((tag & kPresence) != 0) {
    const std::string_view bitmap = reader.TakeBytes((rows + 7) / 8);
    if (!reader.ok()) return Invalid("column: cut short");
    column.present = FromBitmap(bitmap, rows);
    count = static_cast<std::size_t>(std::ranges::count(column.present, 1));
  }
  column.values.resize(rows);
  const Values values(column.values);
  if (Status taken = TakeValues(reader, tag, values.first(count)); !taken) return taken.error();
  if (!reader.ok() || reader.left() != 0) return Invalid("column: wrong length");
  if (count < rows) Spread(count, column.present, values);
  return column;
}

}  // namespace stepscope
