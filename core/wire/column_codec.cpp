#include "core/wire/column_codec.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

namespace stepscope {
namespace {

// Flags of the tag in front of a column.
constexpr std::uint8_t kDeltas = 1;      // deltas; else frame of reference
constexpr std::uint8_t kPresence = 2;    // a bitmap follows
constexpr std::uint8_t kCompressed = 4;  // the planes are compressed by zstd
constexpr std::uint8_t kKnownTags = kDeltas | kPresence | kCompressed;

// A smaller column gains less by zstd than zstd's own header takes.
constexpr std::size_t kWorthCompressing = 128;

using Numbers = std::span<const std::uint64_t>;

// `value = base + divisor x quotient`, modulo 2^64 throughout, so that no value overflows.
struct ColumnPacking {
  std::int64_t base = 0;
  std::uint64_t divisor = 0;  // 0: all quotients are 0 and none are stored
  std::size_t width = 0;      // bytes of one quotient
  std::size_t count = 0;      // number of quotients

  std::size_t bytes() const { return count * width; }
  std::uint64_t Quotient(std::uint64_t number) const {
    const std::uint64_t above = number - static_cast<std::uint64_t>(base);
    return divisor == 1 ? above : above / divisor;
  }
};

std::size_t WidthOf(std::uint64_t largest) {
  return static_cast<std::size_t>(64 - std::countl_zero(largest) + 7) / 8;
}

ColumnPacking PackingOf(Numbers numbers) {
  ColumnPacking packing;
  if (numbers.empty()) return packing;
  const auto as_signed = [](std::uint64_t number) { return static_cast<std::int64_t>(number); };
  packing.base = as_signed(std::ranges::min(numbers, {}, as_signed));
  std::uint64_t largest = 0;
  for (const std::uint64_t number : numbers) {
    const std::uint64_t above = number - static_cast<std::uint64_t>(packing.base);
    largest = std::max(largest, above);
    if (packing.divisor != 1) packing.divisor = std::gcd(packing.divisor, above);
  }
  if (packing.divisor == 0) return packing;
  packing.width = WidthOf(largest / packing.divisor);
  packing.count = numbers.size();
  return packing;
}

void PutPlanes(const ColumnPacking& packing, Numbers numbers, std::string& bytes) {
  const std::size_t begin = bytes.size();
  bytes.resize(begin + packing.bytes());
  for (std::size_t i = 0; i < packing.count; ++i) {
    std::uint64_t quotient = packing.Quotient(numbers[i]);
    for (std::size_t plane = 0; plane < packing.width; ++plane, quotient >>= 8) {
      bytes[begin + plane * packing.count + i] = static_cast<char>(quotient);
    }
  }
}

std::string ToBitmap(std::span<const std::uint8_t> present) {
  std::string bitmap((present.size() + 7) / 8, '\0');
  for (std::size_t row = 0; row < present.size(); ++row) {
    if (present[row] != 0) bitmap[row / 8] = static_cast<char>(bitmap[row / 8] | (1 << (row % 8)));
  }
  return bitmap;
}

void FromBitmap(std::string_view bitmap, std::size_t rows, std::vector<std::uint8_t>& present) {
  present.resize(rows);
  for (std::size_t row = 0; row < rows; ++row) present[row] = (bitmap[row / 8] >> (row % 8)) & 1;
}

// Turns quotients back into values, modulo 2^64.
struct Spacing {
  std::uint64_t base = 0, divisor = 0;

  std::int64_t ValueOf(std::uint64_t quotient) const {
    return static_cast<std::int64_t>(base + divisor * quotient);
  }
};

using Values = std::span<std::int64_t>;

// Joins all planes at once, so that each value is written once.
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

// Reads the planes behind a column's head.
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

// Reads the present values, in the order of their rows.
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

// Moves the present values, which come first, to their rows; from the end, so that none is
// overwritten before it is moved.
void Spread(std::size_t count, const std::vector<std::uint8_t>& present, Values values) {
  for (std::size_t row = values.size(); row-- > 0;) {
    values[row] = present[row] != 0 ? values[--count] : 0;
  }
}

}  // namespace

void ColumnEncoder::Take(const Column& column) {
  numbers_.clear();
  for (std::size_t row = 0; row < column.values.size(); ++row) {
    if (column.Has(row)) numbers_.push_back(static_cast<std::uint64_t>(column.values[row]));
  }
  deltas_.clear();
  for (std::size_t i = 1; i < numbers_.size(); ++i) {
    deltas_.push_back(numbers_[i] - numbers_[i - 1]);
  }
}

void ColumnEncoder::Encode(const Column& column, std::string& bytes, int level) {
  Take(column);
  const ColumnPacking plain = PackingOf(numbers_), of_deltas = PackingOf(deltas_);
  // The first value takes two more bytes with deltas, which must save more than that.
  const bool deltas = numbers_.size() > 1 && of_deltas.bytes() + 2 < plain.bytes();
  const ColumnPacking& packing = deltas ? of_deltas : plain;
  std::uint8_t tag = deltas ? kDeltas : 0;
  if (numbers_.size() != column.values.size()) tag |= kPresence;
  std::string_view planes;
  if (packing.bytes() >= kWorthCompressing) {
    planes_.clear();
    PutPlanes(packing, deltas ? deltas_ : numbers_, planes_);
    planes = planes_;
    smaller_ = Compress(planes, level);
    if (smaller_.size() < planes.size()) planes = smaller_, tag |= kCompressed;
  }
  Put(bytes, tag);
  Put(bytes, column.scale);
  if ((tag & kPresence) != 0) bytes += ToBitmap(column.present);
  if (numbers_.empty()) return;
  if (deltas) PutVarint(bytes, ZigZag(static_cast<std::int64_t>(numbers_[0])));
  PutVarint(bytes, ZigZag(packing.base));
  PutVarint(bytes, packing.divisor);
  if (packing.divisor == 0) return;
  Put(bytes, static_cast<std::uint8_t>(packing.width));
  if (!planes.empty()) {
    bytes += planes;
  } else {
    PutPlanes(packing, deltas ? deltas_ : numbers_, bytes);
  }
}

void EncodeColumn(const Column& column, std::string& bytes, int level) {
  ColumnEncoder().Encode(column, bytes, level);
}

Status DecodeColumn(std::string_view bytes, std::size_t rows, Column& column) {
  ByteReader reader(bytes);
  const auto tag = reader.Take<std::uint8_t>();
  const auto scale = reader.Take<std::uint8_t>();
  if (!reader.ok()) return Invalid("column: cut short");
  if ((tag & ~kKnownTags) != 0) return Invalid("column: an encoding that is not known");
  if (scale > 18) return Invalid("column: a scale above 18");
  column.scale = scale;
  column.present.clear();
  std::size_t count = rows;
  if ((tag & kPresence) != 0) {
    const std::string_view bitmap = reader.TakeBytes((rows + 7) / 8);
    if (!reader.ok()) return Invalid("column: cut short");
    FromBitmap(bitmap, rows, column.present);
    count = static_cast<std::size_t>(std::ranges::count(column.present, 1));
  }
  column.values.resize(rows);
  const Values values(column.values);
  if (Status taken = TakeValues(reader, tag, values.first(count)); !taken) return taken;
  if (!reader.ok() || reader.left() != 0) return Invalid("column: wrong length");
  if (count < rows) Spread(count, column.present, values);
  return {};
}

}  // namespace stepscope
