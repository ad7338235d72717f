#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stepscope {

// A field of a message in the wire format of protobuf; the view points into the message.
struct ProtobufField {
  std::uint32_t number = 0;
  std::uint64_t value = 0;      // an integer, or the bits of a fixed one
  std::string_view bytes = {};  // a text, bytes or a message
  bool has_bytes = false;
};

// Reads the fields of a message from the front, in any order and unknown ones included. Hostile
// bytes end it: what breaks off, and what is no field, is the end, and `broken` says so.
class ProtobufReader {
 public:
  explicit ProtobufReader(std::string_view message) : left_(message) {}

  std::optional<ProtobufField> Next();
  bool broken() const { return broken_; }

 private:
  std::optional<std::uint64_t> Varint();
  std::optional<ProtobufField> Break();

  std::string_view left_;
  bool broken_ = false;
};

// A varint at the front of the bytes, which it takes off; nothing where none is complete.
std::optional<std::uint64_t> TakeVarint(std::string_view& bytes);

}  // namespace stepscope
