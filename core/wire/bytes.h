#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace stepscope {

static_assert(std::endian::native == std::endian::little, "integers are copied as they stand");

// Appends integers of fixed width, little-endian, and varints (LEB128).
template <typename T>
void Put(std::string& bytes, T value) {
  static_assert(std::is_integral_v<T>);
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void PutVarint(std::string& bytes, std::uint64_t value);

// Maps small negative numbers to small ones: 0, -1, 1, -2 become 0, 1, 2, 3.
inline std::uint64_t ZigZag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
inline std::int64_t UnZigZag(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

// Appends the length (varint) and the bytes.
void PutText(std::string& bytes, std::string_view text);

// Reads from the front of bytes that come from outside. After the first read beyond the end
// everything reads as zero or empty and ok() is false: check once, at the end. Borrows the bytes.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : left_(bytes) {}

  template <typename T>
  T Take() {
    static_assert(std::is_integral_v<T>);
    const std::string_view bytes = TakeBytes(sizeof(T));
    T value{};
    if (ok_) std::memcpy(&value, bytes.data(), sizeof(value));
    return value;
  }
  std::string_view TakeBytes(std::size_t count);
  std::uint64_t TakeVarint();
  std::string_view TakeText(std::size_t longest);

  bool ok() const { return ok_; }
  std::size_t left() const { return left_.size(); }
  std::string_view rest() const { return left_; }
  void Fail() { ok_ = false, left_ = {}; }

 private:
  std::string_view left_;
  bool ok_ = true;
};

}  // namespace stepscope
