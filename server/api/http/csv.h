#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/json.h"
#include "server/edge/http/message.h"

namespace stepscope {

// Tables as text for spreadsheets (RFC 4180): commas, lines that end with CR LF, a header line.

// Whether the caller wants CSV: the parameter format is csv, or there is none and the header Accept
// names text/csv before JSON.
bool WantsCsv(const Request& request, std::string_view format);

// A table under construction.
class Csv {
 public:
  Csv() = default;  // without a header line
  explicit Csv(std::span<const std::string_view> columns);

  // Quoted where needed. A text that a spreadsheet would take for a formula gets an apostrophe in
  // front, which it hides.
  Csv& Text(std::string_view text);
  Csv& Int(std::int64_t value);
  Csv& Real(double value, int decimals = 4);
  Csv& Plain(std::string_view text);  // a number or a word that needs no quotes
  Csv& None();                        // an empty cell: unknown
  void EndRow();

  Reply ToReply(const std::string& file_name) &&;

 private:
  void Begin();

  std::string text_;
  bool first_ = true;  // in its row
};

// Objects as rows, with a column for each member that is a number, a text, a boolean or a list of
// texts, and for those of objects in them ("wall_seconds.p50"); other lists are left out. Columns
// are in the order in which members come first. Empty without objects.
Reply CsvOfObjects(const OrderedJson& objects, const std::string& file_name);
// A page of a list as such rows, with the cursor of the next page as the header Stepscope-Next; ""
// at the end.
Reply CsvPage(const OrderedJson& objects, const std::string& file_name, const std::string& next);

}  // namespace stepscope
