#include "server/api/http/query.h"

#include <algorithm>

#include "core/base/text.h"
#include "server/front/target.h"

namespace stepscope {
namespace {

std::string Listed(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

Status CheckText(const QueryParameter& parameter, std::string_view value, std::size_t most) {
  if (value.size() < static_cast<std::size_t>(std::min<std::int64_t>(parameter.least, 1)) ||
      value.size() > most) {
    return Invalid(Format("has {} bytes, 1 to {} are taken", value.size(), most));
  }
  if (ValidUtf8(value) != value) return Invalid("is not valid UTF-8");
  return {};
}

Status CheckInteger(const QueryParameter& parameter, std::string_view value) {
  const Result<std::int64_t> number = ParseInt(value, parameter.name);
  if (!number) return Invalid(Format("{} is not a whole number", Printable(value, 40)));
  if (*number >= parameter.least && *number <= parameter.most) return {};
  return Invalid(Format("{} is not within {} to {}", *number, parameter.least, parameter.most));
}

Status CheckWord(const QueryParameter& parameter, std::string_view value) {
  if (std::ranges::count(parameter.words, value) > 0) return {};
  return Invalid(Format("'{}' is not one of {}", Printable(value, 40), Listed(parameter.words)));
}

Status CheckEach(const QueryParameter& parameter, std::string_view value) {
  const std::vector<std::string_view> parts = Split(value, ',');
  if (parameter.kind == QueryParameter::kTexts && std::cmp_greater(parts.size(), parameter.most)) {
    return Invalid(Format("has {} parts, at most {} are taken", parts.size(), parameter.most));
  }
  for (const std::string_view part : parts) {
    const Status good = parameter.kind == QueryParameter::kWords ? CheckWord(parameter, part)
                                                                 : CheckText(parameter, part, 63);
    if (!good) return good;
  }
  return {};
}

Status CheckCursor(std::string_view value) {
  const bool good = !value.empty() && value.size() <= 512 && FromBase64Url(value).ok();
  return good ? Status() : Invalid("is not the cursor of an answer");
}

Status CheckValue(const QueryParameter& parameter, std::string_view value) {
  switch (parameter.kind) {
    case QueryParameter::kText:
      return CheckText(parameter, value, static_cast<std::size_t>(parameter.most));
    case QueryParameter::kInteger:
      return CheckInteger(parameter, value);
    case QueryParameter::kTime:
      if (ParseRfc3339(value).ok()) return {};
      return Invalid(
          Format("'{}' is not a time such as 2026-11-20T20:13:34Z", Printable(value, 40)));
    case QueryParameter::kWord:
      return CheckWord(parameter, value);
    case QueryParameter::kWords:
    case QueryParameter::kTexts:
      return CheckEach(parameter, value);
    case QueryParameter::kCursor:
      return CheckCursor(value);
  }
  return {};
}

}  // namespace

Query::Query(const Request& request, std::span<const QueryParameter> table) {
  const Result<QueryParameters> parameters = ParseQuery(request.query);
  if (!parameters) {
    faults_.push_back({"", "", parameters.error().message});
    return;
  }
  for (const auto& [name, value] : *parameters) Check(name, value, table);
}

void Query::Check(const std::string& name, const std::string& value,
                  std::span<const QueryParameter> table) {
  const std::string shown = Printable(ValidUtf8(name), 64);
  const auto parameter = std::ranges::find(table, name, &QueryParameter::name);
  if (parameter == table.end()) {
    faults_.push_back({"", shown, Format("{}: this call has no such parameter", shown)});
    return;
  }
  const Status good = CheckValue(*parameter, value);
  if (!good) faults_.push_back({"", shown, Format("{}: {}", shown, good.error().message)});
  values_.emplace(name, value);
}

Reply Query::Refusal(const Request& request) const {
  Problem problem{"invalid-parameter", faults_.front().detail, faults_, {}};
  if (faults_.front().parameter.empty()) problem.faults.clear();
  return ToReply(problem, request);
}

Reply Query::Refuse(const Request& request, std::string parameter, std::string detail) {
  detail = Format("{}: {}", parameter, detail);
  return ToReply(Problem{"invalid-parameter", detail, {{"", std::move(parameter), detail}}, {}},
                 request);
}

std::string Query::Text(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::string() : found->second;
}

std::optional<std::int64_t> Query::MaybeInt(std::string_view name) const {
  if (!Has(name)) return std::nullopt;
  return ParseInt(Text(name), name).value();
}

std::int64_t Query::Int(std::string_view name, std::int64_t fallback) const {
  return MaybeInt(name).value_or(fallback);
}

std::optional<std::int64_t> Query::MaybeTimeUs(std::string_view name) const {
  if (!Has(name)) return std::nullopt;
  return ToMicros(ParseRfc3339(Text(name)).value());
}

std::vector<std::string> Query::Texts(std::string_view name) const {
  std::vector<std::string> texts;
  if (!Has(name)) return texts;
  const std::string value = Text(name);
  for (const std::string_view part : Split(value, ',')) texts.emplace_back(part);
  return texts;
}

}  // namespace stepscope
