#include "rules/engine/params.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "core/base/text.h"

namespace stepscope {
namespace {

bool IsWhole(const Param& param) {
  return param.unit == "samples" || param.unit == "steps" || param.unit == "repeats";
}

std::string Shown(const Json& value) {
  return Printable(Dump(value), 60);
}

Error OutOfRange(std::string_view rule, const Param& param, const Json& value,
                 std::string_view also) {
  return Invalid(Format("{}: {} is {}, but must be {} from {} to {}{}{}{}", rule, param.name,
                        Shown(value), IsWhole(param) ? "a whole number" : "a number", param.least,
                        param.most, param.unit.empty() ? "" : " ", param.unit, also));
}

Result<double> Choice(std::string_view rule, const Param& param, const Json& value) {
  std::string known;
  for (std::size_t i = 0; i < param.choices.size(); ++i) {
    if (value == param.choices[i]) return static_cast<double>(i);
    known += i == 0 ? "" : ", ";
    known += param.choices[i];
  }
  return Invalid(
      Format("{}: {} is {}, but must be one of {}", rule, param.name, Shown(value), known));
}

// Text counts as 0. A value that is no text gets the error of an empty text.
Result<double> GoodText(std::string_view rule, const Param& param, const Json& value) {
  const bool text = value.is_string();
  const Status good = param.good_text(text ? value.get<std::string>() : "");
  if (text && good.ok()) return 0.0;
  return Invalid(Format("{}: {} is {}, but must be {}", rule, param.name, Shown(value),
                        good.ok() ? "text" : good.error().message));
}

// A value as a number; time becomes samples at `interval`, clamped to the range.
Result<double> Number(std::string_view rule, const Param& param, const Json& value,
                      Duration interval) {
  if (param.good_text != nullptr) return GoodText(rule, param, value);
  if (!param.choices.empty()) return Choice(rule, param, value);
  const bool timed = param.unit == "samples";
  const std::string_view also = timed ? ", or a time such as \"250s\"" : "";
  if (timed && value.is_string()) {
    const auto time = ParseDuration(value.get_ref<const std::string&>());
    const bool none = time.ok() && *time == Duration::zero() && param.least > 0;
    if (!time.ok() || *time < Duration::zero() || none) return OutOfRange(rule, param, value, also);
    const double ticks =
        std::ceil(static_cast<double>(time->count()) / static_cast<double>(interval.count()));
    return std::clamp(ticks, param.least, param.most);
  }
  if (!value.is_number()) return OutOfRange(rule, param, value, also);
  const auto number = value.get<double>();
  const bool fits = number >= param.least && number <= param.most;  // false for NaN
  if (!fits || (IsWhole(param) && number != std::floor(number))) {
    return OutOfRange(rule, param, value, also);
  }
  return number;
}

Status CheckNames(std::string_view rule, std::span<const Param> table, const Json& given) {
  if (!given.is_object()) {
    return Invalid(Format("{}: parameters must be a JSON object, not {}", rule, Shown(given)));
  }
  for (const auto& [name, value] : given.items()) {
    if (std::ranges::find(table, std::string_view(name), &Param::name) != table.end()) continue;
    std::string known;
    for (const Param& param : table) {
      known += known.empty() ? "" : ", ";
      known += param.name;
    }
    return Invalid(Format("{}: there is no parameter '{}'; it has {}", rule, Printable(name, 80),
                          known.empty() ? "none" : known));
  }
  return {};
}

// Checks `not_above` for parameters that are complete and each in range.
Status CheckOrder(std::string_view rule, std::span<const Param> table, const Json& complete) {
  for (const Param& low : table) {
    const auto high = std::ranges::find(table, low.not_above, &Param::name);
    if (low.not_above.empty() || high == table.end()) continue;
    const Json& least = complete[std::string(low.name)];
    const Json& most = complete[std::string(high->name)];
    if (*Number(rule, low, least, 1s) <= *Number(rule, *high, most, 1s)) continue;
    return Invalid(Format("{}: {} is {}, but must not be above {}, which is {}{}{}", rule, low.name,
                          Shown(least), high->name, Shown(most), high->unit.empty() ? "" : " ",
                          high->unit));
  }
  return {};
}

// The error for a parameter that was not given; a text gets the error of an empty one.
Error Missing(std::string_view rule, const Param& param) {
  const Status good = param.good_text == nullptr ? Status() : param.good_text("");
  return Invalid(Format("{}: {} must be given, as {}", rule, param.name,
                        good.ok() ? param.required : good.error().message));
}

Json Fallback(const Param& param) {
  if (!param.choices.empty()) return param.choices[static_cast<std::size_t>(param.fallback)];
  const bool whole = param.fallback == std::floor(param.fallback);
  return whole ? Json(static_cast<std::int64_t>(param.fallback)) : Json(param.fallback);
}

}  // namespace

bool IsRequired(const Param& param) {
  return !param.required.empty() || param.good_text != nullptr;
}

Result<Json> CompleteParams(std::string_view rule, std::span<const Param> table,
                            const Json& given) {
  const Json object = given.is_null() ? Json::object() : given;
  if (auto names = CheckNames(rule, table, object); !names.ok()) return names.error();
  Json complete = Json::object();
  for (const Param& param : table) {
    const std::string name(param.name);
    const auto found = object.find(name);
    if (found == object.end() && IsRequired(param)) return Missing(rule, param);
    if (found == object.end()) {
      complete[name] = Fallback(param);
      continue;
    }
    if (auto number = Number(rule, param, *found, 1s); !number.ok()) return number.error();
    complete[name] = *found;
  }
  if (auto order = CheckOrder(rule, table, complete); !order.ok()) return order.error();
  return complete;
}

Result<Params> Params::Read(std::string_view rule, std::span<const Param> table, const Json& given,
                            Duration interval) {
  auto complete = CompleteParams(rule, table, given);
  if (!complete.ok()) return complete.error();
  Params params;
  for (const Param& param : table) {
    const Json& value = (*complete)[std::string(param.name)];
    auto number = Number(rule, param, value, std::max(interval, Duration(1ms)));
    if (!number.ok()) return number.error();
    params.values_.push_back(
        {param.name, *number, param.good_text ? value.get<std::string>() : ""});
  }
  return params;
}

const Params::Value& Params::Find(std::string_view name) const {
  const auto found = std::ranges::find(values_, name, &Value::name);
  assert(found != values_.end());
  return *found;
}

double Params::operator[](std::string_view name) const {
  return Find(name).number;
}

const std::string& Params::Text(std::string_view name) const {
  return Find(name).text;
}

std::int64_t Params::Samples(std::string_view name) const {
  return static_cast<std::int64_t>((*this)[name]);
}

}  // namespace stepscope
