#include "server/api/http/csv.h"

#include "core/base/json_members.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::string_view kFormula = "=+-@\t\r|";  // how a formula or a command begins

}  // namespace

bool WantsCsv(const Request& request, std::string_view format) {
  if (!format.empty()) return format == "csv";
  const std::string_view accept = request.Header("accept");
  const std::size_t csv = accept.find("text/csv");
  return csv != std::string_view::npos && csv < accept.find("application/json");
}

Csv::Csv(std::span<const std::string_view> columns) {
  for (const std::string_view column : columns) Text(column);
  EndRow();
}

void Csv::Begin() {
  if (!first_) text_ += ',';
  first_ = false;
}

Csv& Csv::Text(std::string_view text) {
  Begin();
  const bool formula = !text.empty() && kFormula.find(text.front()) != std::string_view::npos;
  const bool quoted = text.find_first_of(",\"\r\n") != std::string_view::npos;
  if (quoted) text_ += '"';
  if (formula) text_ += '\'';
  for (const char each : text) {
    if (each == '"') text_ += '"';
    text_ += each;
  }
  if (quoted) text_ += '"';
  return *this;
}

Csv& Csv::Int(std::int64_t value) {
  Begin();
  text_ += std::to_string(value);
  return *this;
}

Csv& Csv::Real(double value, int decimals) {
  Begin();
  text_ += Format("{}", Rounded(value, decimals));
  return *this;
}

Csv& Csv::None() {
  Begin();
  return *this;
}

void Csv::EndRow() {
  text_ += "\r\n";
  first_ = true;
}

Reply Csv::ToReply(const std::string& file_name) && {
  return {.status = 200,
          .content_type = "text/csv; charset=utf-8",
          .body = std::move(text_),
          .headers = {{"Cache-Control", "no-store"},
                      {"Content-Disposition", Format("attachment; filename=\"{}\"", file_name)}}};
}

}  // namespace stepscope
