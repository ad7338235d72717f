#include "bench/store/gorilla.h"

#include <algorithm>
#include <bit>

namespace stepscope {
namespace {

// The lowest `count` bits of a number, 1 to 64.
std::uint64_t Lowest(std::uint64_t number, int count) {
  return number & (~std::uint64_t{0} >> (64 - count));
}

// Bits, the highest of each byte first.
class BitWriter {
 public:
  void Put(std::uint64_t bits, int count) {
    if (count > 32) {
      Put(bits >> 32, count - 32);
      count = 32;
    }
    pending_ = (pending_ << count) | Lowest(bits, count);
    for (waiting_ += count; waiting_ >= 8; waiting_ -= 8) {
      bytes_ += static_cast<char>(pending_ >> (waiting_ - 8));
    }
  }

  std::string Finish() {
    if (waiting_ > 0) bytes_ += static_cast<char>(pending_ << (8 - waiting_));
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
  std::uint64_t pending_ = 0;
  int waiting_ = 0;  // number of pending bits, always under 8 between calls
};

class BitReader {
 public:
  explicit BitReader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t Take(int count) {
    if (count > 32) {
      const std::uint64_t high = Take(count - 32);
      return (high << 32) | Take(32);
    }
    for (; waiting_ < count; waiting_ += 8) {
      const auto byte = at_ < bytes_.size() ? static_cast<std::uint8_t>(bytes_[at_++]) : 0;
      pending_ = (pending_ << 8) | static_cast<std::uint64_t>(byte);
    }
    waiting_ -= count;
    return Lowest(pending_ >> waiting_, count);
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  std::uint64_t pending_ = 0;
  int waiting_ = 0;
};

}  // namespace

std::string EncodeGorilla(const std::vector<std::int64_t>& bits_of_doubles) {
  BitWriter out;
  std::uint64_t before = 0;
  int leading = 0, length = 0;  // zeros before the last written bits, and their number; 0: none yet
  for (std::size_t row = 0; row < bits_of_doubles.size(); ++row) {
    const auto bits = static_cast<std::uint64_t>(bits_of_doubles[row]);
    const std::uint64_t changed = bits ^ before;
    before = bits;
    if (row == 0) {
      out.Put(bits, 64);
      continue;
    }
    if (changed == 0) {
      out.Put(0, 1);
      continue;
    }
    const int zeros = std::min(std::countl_zero(changed), 31), after = std::countr_zero(changed);
    if (length > 0 && zeros >= leading && after >= 64 - leading - length) {
      out.Put(0b10, 2);
    } else {
      leading = zeros;
      length = 64 - zeros - after;
      out.Put(0b11, 2);
      out.Put(static_cast<std::uint64_t>(leading), 5);
      out.Put(static_cast<std::uint64_t>(length - 1), 6);
    }
    out.Put(changed >> (64 - leading - length), length);
  }
  return out.Finish();
}

std::vector<std::int64_t> DecodeGorilla(std::string_view bytes, std::size_t rows) {
  std::vector<std::int64_t> values;
  values.reserve(rows);
  BitReader in(bytes);
  std::uint64_t bits = 0;
  int leading = 0, length = 1;
  for (std::size_t row = 0; row < rows; ++row) {
    if (row == 0) {
      bits = in.Take(64);
    } else if (in.Take(1) == 1) {
      if (in.Take(1) == 1) {
        leading = static_cast<int>(in.Take(5));
        length = static_cast<int>(in.Take(6)) + 1;
      }
      bits ^= in.Take(length) << (64 - leading - length);
    }
    values.push_back(static_cast<std::int64_t>(bits));
  }
  return values;
}

}  // namespace stepscope
