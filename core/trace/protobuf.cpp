#include "core/trace/protobuf.h"

namespace stepscope {
namespace {

constexpr std::size_t kLongestVarint = 10;
enum WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

std::uint64_t LittleEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

}  // namespace

std::optional<std::uint64_t> TakeVarint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < kLongestVarint && i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    value |= std::uint64_t{byte & 0x7fu} << (7 * i);
    if (byte < 0x80) {
      bytes.remove_prefix(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> ProtobufReader::Varint() {
  return TakeVarint(left_);
}

std::optional<ProtobufField> ProtobufReader::Break() {
  broken_ = true;
  left_ = {};
  return std::nullopt;
}

std::optional<ProtobufField> ProtobufReader::Next() {
  if (left_.empty()) return std::nullopt;
  const auto tag = Varint();
  if (!tag || *tag >> 3 == 0 || *tag >> 3 > 0x1fffffff) return Break();
  ProtobufField field{.number = static_cast<std::uint32_t>(*tag >> 3)};
  const auto type = static_cast<WireType>(*tag & 7);
  std::size_t size = 0;
  if (type == kVarint) {
    const auto value = Varint();
    if (!value) return Break();
    field.value = *value;
    return field;
  }
  if (type == kBytes) {
    const auto length = Varint();
    if (!length || *length > left_.size()) return Break();
    size = static_cast<std::size_t>(*length);
    field.has_bytes = true;
  } else if (type == kFixed64 || type == kFixed32) {
    size = type == kFixed64 ? 8 : 4;
    if (size > left_.size()) return Break();
    field.value = LittleEndian(left_.substr(0, size));
  } else {
    return Break();  // groups, which nobody writes any more
  }
  if (field.has_bytes) field.bytes = left_.substr(0, size);
  left_.remove_prefix(size);
  return field;
}

}  // namespace stepscope
