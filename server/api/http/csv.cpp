#include "server/api/http/csv.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/base/json_members.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::string_view kFormula = "=+-@\t\r|";  // how a formula or a command begins

bool IsTexts(const OrderedJson& value) {
  return value.is_array() &&
         std::ranges::all_of(value, [](const OrderedJson& each) { return each.is_string(); });
}

// Calls take(name, value) for each cell of an object.
template <typename Take>
void ForEachCell(const OrderedJson& object, const std::string& prefix, const Take& take) {
  for (const auto& [name, value] : object.items()) {
    if (value.is_object()) ForEachCell(value, prefix + name + ".", take);
    if (value.is_primitive() || IsTexts(value)) take(prefix + name, value);
  }
}

void AddCell(Csv& csv, const OrderedJson& value) {
  if (value.is_null()) return void(csv.None());
  if (value.is_string()) return void(csv.Text(value.get<std::string>()));
  if (!value.is_array()) return void(csv.Plain(value.dump()));
  std::string texts;
  for (const OrderedJson& each : value) {
    texts += (texts.empty() ? "" : "; ") + each.get<std::string>();
  }
  csv.Text(texts);
}

// The columns of all objects, each with its place.
struct ColumnNames {
  std::vector<std::string> names;
  std::map<std::string, std::size_t> places;

  std::size_t PlaceOf(const std::string& name) {
    const auto [found, is_new] = places.try_emplace(name, names.size());
    if (is_new) names.push_back(name);
    return found->second;
  }
};

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

Csv& Csv::Plain(std::string_view text) {
  Begin();
  text_ += text;
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

Reply CsvOfObjects(const OrderedJson& objects, const std::string& file_name) {
  ColumnNames columns;
  for (const OrderedJson& object : objects) {
    ForEachCell(object, "", [&](const std::string& name, const auto&) { columns.PlaceOf(name); });
  }
  if (columns.names.empty()) return Csv().ToReply(file_name);
  Csv csv(std::vector<std::string_view>(columns.names.begin(), columns.names.end()));
  for (const OrderedJson& object : objects) {
    std::vector<const OrderedJson*> cells(columns.names.size(), nullptr);
    ForEachCell(object, "", [&](const std::string& name, const OrderedJson& value) {
      cells[columns.PlaceOf(name)] = &value;
    });
    for (const OrderedJson* cell : cells) AddCell(csv, cell ? *cell : OrderedJson());
    csv.EndRow();
  }
  return std::move(csv).ToReply(file_name);
}

Reply CsvPage(const OrderedJson& objects, const std::string& file_name, const std::string& next) {
  Reply reply = CsvOfObjects(objects, file_name);
  if (!next.empty()) reply.headers.emplace_back("Stepscope-Next", next);
  return reply;
}

}  // namespace stepscope
