#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stepscope {

// JSON written as text, for answers with thousands of numbers: a tree of them would cost more than
// their content.

// Writes numbers at the end of an open list, each with a comma in front unless the list begins with
// it. They are in the list once this object is gone: nobody else may write there before.
class NumberList {
 public:
  explicit NumberList(std::string& list);
  ~NumberList() { Flush(); }
  NumberList(const NumberList&) = delete;
  NumberList& operator=(const NumberList&) = delete;

  void Int(std::int64_t value);
  void Pair(std::int64_t one, std::int64_t other);  // [one,other]
  // value / 10^scale, with every digit; scale is 0 to 18. Many at once take half the time.
  void Scaled(std::int64_t value, std::uint8_t scale) { Scaled(std::span(&value, 1), scale); }
  void Scaled(std::span<const std::int64_t> values, std::uint8_t scale);
  void Real(double value);  // with four decimals, as Rounded(); small numbers with six digits
  void Null();

 private:
  static constexpr std::size_t kLongest = 48;  // bytes of one or two numbers with their commas

  void Begin();
  void Flush();
  template <typename Put>
  void Append(std::span<const std::int64_t> values, Put put);

  std::string& list_;
  bool comma_;
  std::array<char, 4096> text_;
  char* end_;
  std::uint64_t high_ = 0;  // the last large integer without its last eight digits,
  std::size_t high_size_ = 0;
  std::array<char, 12> high_text_{};  // and its text
};

// Opens an object in a list, or a member of an object, for more content: the caller appends '}' or
// ']'. `object` is its text so far.
void OpenObject(std::string& list, std::string_view object);
void OpenList(std::string& object, std::string_view name);

}  // namespace stepscope
