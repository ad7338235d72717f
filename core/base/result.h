#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace stepscope {

// The kind of error, by what the caller can do: fix the input, look elsewhere, give way, try again,
// report a fault.
enum class Code { kInvalid, kNotFound, kConflict, kUnavailable, kInternal };

// The message names the thing that is wrong and, where there is one, the remedy.
struct Error {
  Code code = Code::kInternal;
  std::string message;
};

// A value or the reason why there is none. Never both; reading the wrong one is a bug in the
// caller.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return content_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // The value is moved out of a temporary Result, so that a loop over it cannot dangle.
  T& value() & { return assert(ok()), *std::get_if<0>(&content_); }
  const T& value() const& { return assert(ok()), *std::get_if<0>(&content_); }
  T value() && { return assert(ok()), std::move(*std::get_if<0>(&content_)); }
  const Error& error() const { return assert(!ok()), *std::get_if<1>(&content_); }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Error> content_;
};

// Success, or the reason why not.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const { return assert(!ok()), *error_; }

 private:
  std::optional<Error> error_;
};

inline Error Invalid(std::string message) {
  return {Code::kInvalid, std::move(message)};
}
inline Error NotFound(std::string message) {
  return {Code::kNotFound, std::move(message)};
}
inline Error Conflict(std::string message) {
  return {Code::kConflict, std::move(message)};
}
inline Error Unavailable(std::string message) {
  return {Code::kUnavailable, std::move(message)};
}
inline Error Internal(std::string message) {
  return {Code::kInternal, std::move(message)};
}

}  // namespace stepscope
