#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "server/edge/http/message.h"

namespace stepscope {

// Tables as text for spreadsheets (RFC 4180): commas, lines that end with CR LF, a header line.

// Whether the caller wants CSV: the parameter format is csv, or there is none and the header Accept
// names text/csv before JSON.
bool WantsCsv(const Request& request, std::string_view format);

// A table under construction.
class Csv {
 public:
  explicit Csv(std::span<const std::string_view> columns);

  // Quoted where needed. A text that a spreadsheet would take for a formula gets an apostrophe in
  // front, which it hides.
  Csv& Text(std::string_view text);
  Csv& Int(std::int64_t value);
  Csv& Real(double value, int decimals = 4);
  Csv& None();  // an empty cell: unknown
  void EndRow();

  Reply ToReply(const std::string& file_name) &&;

 private:
  void Begin();

  std::string text_;
  bool first_ = true;  // in its row
};

}  // namespace stepscope
