#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

// A value bound to a statement. Text takes the type that the statement expects there (text, jsonb,
// ...) and must not hold NUL; whole numbers are bigint, real ones float8. Arrays are made by the
// functions below and arrive as bigint[], text[] and bytea[].
class Parameter {
 public:
  Parameter(std::nullptr_t);
  Parameter(std::int64_t value);
  Parameter(int value);
  Parameter(bool value);
  Parameter(double value);
  Parameter(std::string text);
  Parameter(const char* text);
  Parameter(std::string_view text);
  static Parameter Bytes(std::string_view bytes);  // bytea
  static Parameter Array(std::span<const std::int64_t> values);
  static Parameter Array(std::span<const std::string> texts);
  static Parameter BytesArray(std::span<const std::string_view> values);
  template <typename T>
  Parameter(const std::optional<T>& value)
      : Parameter(value ? Parameter(*value) : Parameter(nullptr)) {}

  const std::optional<std::string>& value() const { return value_; }
  // PostgreSQL's number of the type; 0 = the statement decides.
  unsigned type() const { return type_; }
  bool binary() const { return binary_; }  // sent in binary format

 private:
  Parameter(std::string bytes, unsigned type);  // binary
  std::optional<std::string> value_;
  unsigned type_ = 0;
  bool binary_ = false;
};

struct [[nodiscard]] Statement {
  std::string sql;
  std::vector<Parameter> parameters;
};

}  // namespace stepscope
