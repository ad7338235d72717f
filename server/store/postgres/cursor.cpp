#include "server/store/postgres/cursor.h"

#include "core/base/text.h"

namespace stepscope {

std::optional<std::int64_t> Rows::MaybeInt(std::size_t row, std::size_t column) const {
  if (IsNull(row, column)) return std::nullopt;
  return Int(row, column);
}

Json ReadJson(const Rows& rows, std::size_t row, std::size_t column) {
  if (rows.IsNull(row, column)) return nullptr;
  Json json = Json::parse(rows.Text(row, column), nullptr, false);
  return json.is_discarded() ? Json(nullptr) : json;
}

Status Done(const Result<Rows>& result) {
  return result ? Status() : Status(result.error());
}

std::string EncodeCursor(const Json& position) {
  return ToBase64Url(Dump(position));
}

Result<Json> DecodeCursor(const std::string& cursor, const Json& like) {
  const Error wrong = Invalid("cursor: not one of this list; take \"next\" of the page before");
  const Result<std::string> text = FromBase64Url(cursor);
  if (!text) return wrong;
  const Result<Json> position = ParseJson(*text);
  if (!position || !position->is_array() || position->size() != like.size()) return wrong;
  for (std::size_t i = 0; i < like.size(); ++i) {
    const bool same =
        like[i].is_string() ? (*position)[i].is_string() : (*position)[i].is_number_integer();
    if (!same) return wrong;
  }
  return *position;
}

}  // namespace stepscope
