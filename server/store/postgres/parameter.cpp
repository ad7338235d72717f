#include "server/store/postgres/parameter.h"

// The encoding of values for PostgreSQL: numbers and text as text, bytes and arrays in binary.

#include "core/base/text.h"
#include "server/store/postgres/type_numbers.h"

namespace stepscope {
namespace {

void AppendBig(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(value >> shift));
  }
}

// The head of a one-dimensional array without nulls.
std::string ArrayHead(unsigned element, std::size_t count) {
  std::string out;
  AppendBig(out, count == 0 ? 0 : 1, 4);  // dimensions
  AppendBig(out, 0, 4);                   // no nulls
  AppendBig(out, element, 4);
  if (count == 0) return out;
  AppendBig(out, count, 4);
  AppendBig(out, 1, 4);  // first index
  return out;
}

template <typename Texts>
std::string PackArray(unsigned element, const Texts& values) {
  std::string out = ArrayHead(element, values.size());
  for (const auto& value : values) {
    AppendBig(out, value.size(), 4);
    out.append(value);
  }
  return out;
}

}  // namespace

Parameter::Parameter(std::nullptr_t) {}
Parameter::Parameter(std::int64_t value)
    : value_(std::to_string(value)), type_(type_number::kBigint) {}
Parameter::Parameter(int value) : Parameter(static_cast<std::int64_t>(value)) {}
Parameter::Parameter(bool value) : value_(value ? "t" : "f"), type_(type_number::kBool) {}
Parameter::Parameter(double value) : value_(Format("{}", value)), type_(type_number::kDouble) {}
Parameter::Parameter(std::string text) : value_(std::move(text)) {}
Parameter::Parameter(const char* text) : value_(text) {}
Parameter::Parameter(std::string_view text) : value_(std::string(text)) {}
Parameter::Parameter(std::string bytes, unsigned type)
    : value_(std::move(bytes)), type_(type), binary_(true) {}

Parameter Parameter::Bytes(std::string_view bytes) {
  return Parameter(std::string(bytes), type_number::kBytea);
}

Parameter Parameter::Array(std::span<const std::int64_t> values) {
  std::string out = ArrayHead(type_number::kBigint, values.size());
  for (const std::int64_t value : values) {
    AppendBig(out, 8, 4);
    AppendBig(out, static_cast<std::uint64_t>(value), 8);
  }
  return Parameter(std::move(out), type_number::kBigintArray);
}

Parameter Parameter::Array(std::span<const std::string> texts) {
  return Parameter(PackArray(type_number::kText, texts), type_number::kTextArray);
}

Parameter Parameter::BytesArray(std::span<const std::string_view> values) {
  return Parameter(PackArray(type_number::kBytea, values), type_number::kByteaArray);
}

}  // namespace stepscope
