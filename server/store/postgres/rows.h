#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace stepscope {

// The rows of an answer, all in memory: every list has a limit. Cells may be integers, text, json,
// bool, float8, numeric or bytea; cast what is something else to text in the statement.
class Rows {
 public:
  std::size_t size() const;
  bool empty() const { return size() == 0; }
  bool IsNull(std::size_t row, std::size_t column) const;
  std::string Text(std::size_t row, std::size_t column) const;
  std::int64_t Int(std::size_t row, std::size_t column) const;
  double Real(std::size_t row, std::size_t column) const;
  bool Bool(std::size_t row, std::size_t column) const;
  std::string Bytes(std::size_t row, std::size_t column) const;           // bytea
  std::string_view BytesView(std::size_t row, std::size_t column) const;  // while the rows live
  std::optional<std::int64_t> MaybeInt(std::size_t row, std::size_t column) const;
  std::int64_t affected() const { return affected_; }  // rows changed

  // An answer as PostgreSQL sent it, in binary format.
  struct Cells {
    virtual ~Cells() = default;
    virtual std::size_t size() const = 0;  // rows
    virtual bool IsNull(std::size_t row, std::size_t column) const = 0;
    virtual std::string_view At(std::size_t row, std::size_t column) const = 0;
    virtual unsigned Type(std::size_t column) const = 0;  // PostgreSQL's number of the type
  };

  Rows() = default;
  Rows(std::shared_ptr<const Cells> cells, std::int64_t affected)
      : cells_(std::move(cells)), affected_(affected) {}

 private:
  std::shared_ptr<const Cells> cells_;  // Rows are copied out of Result, the cells never change
  std::int64_t affected_ = 0;
};

}  // namespace stepscope
