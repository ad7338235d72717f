#pragma once

// A fold's state as JSON. A type lists its members once, for both ways:
//
//   template <typename State>
//   void Fields(State& state) {
//     state("scans", scans);
//     state("gpus", gpus, [this] { return NewGpu(); });
//   }

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/base/text.h"
#include "core/base/time.h"
#include "rules/rule.h"

namespace stepscope {

// Types that know how to be saved by themselves, such as histograms.
template <typename T>
concept SavesItself = requires(T value, const Json& json) {
  Json(std::as_const(value).Save());
  { value.Load(json) } -> std::same_as<Status>;
};

class StateWriter {
 public:
  Json json = Json::object();

  template <typename T>
  void operator()(std::string_view name, T& value) {
    json[std::string(name)] = Of(value);
  }
  void operator()(std::string_view name, std::optional<Time>& value) {
    if (value) json[std::string(name)] = ToMicros(*value);
  }
  template <typename T>
  void Maybe(std::string_view name, T& value) {
    if (value != T()) (*this)(name, value);
  }
  template <typename Key, typename T, typename Make>
  void operator()(std::string_view name, std::map<Key, T, std::less<>>& map, Make&&) {
    Json rows = Json::array();
    for (auto& [key, value] : map) rows.push_back({Of(key), Of(value)});
    json[std::string(name)] = std::move(rows);
  }

 private:
  template <typename T>
  static Json Of(T& value) {
    using Plain = std::remove_const_t<T>;
    if constexpr (std::is_same_v<Plain, Time>) {
      return ToMicros(value);
    } else if constexpr (std::is_same_v<Plain, Subject>) {
      return {value.node, value.device, value.rank};
    } else if constexpr (std::is_arithmetic_v<Plain> || std::is_same_v<Plain, std::string>) {
      return value;
    } else if constexpr (SavesItself<Plain>) {
      return value.Save();
    } else {
      StateWriter inner;
      value.Fields(inner);
      return std::move(inner.json);
    }
  }
};

// Keeps the first error; what cannot be read stays as it was.
class StateReader {
 public:
  StateReader(const Json& json, Status& status) : json_(json), status_(status) {}

  template <typename T>
  void operator()(std::string_view name, T& value) {
    if (const Json* member = Member(name)) Read(name, *member, value);
  }
  void operator()(std::string_view name, std::optional<Time>& value) {
    value.reset();
    if (!json_.is_object() || !json_.contains(name)) return;
    Read(name, *Member(name), value.emplace());
  }
  // One that earlier versions did not save, or that has nothing to say: nothing is its default.
  template <typename T>
  void Maybe(std::string_view name, T& value) {
    value = T();
    if (json_.is_object() && json_.contains(name)) (*this)(name, value);
  }
  // `make` makes the value that a row is read into.
  template <typename Key, typename T, typename Make>
  void operator()(std::string_view name, std::map<Key, T, std::less<>>& map, Make&& make) {
    const Json* rows = Member(name);
    if (rows == nullptr || !Check(name, rows->is_array())) return;
    map.clear();
    for (const Json& row : *rows) {
      if (!Check(name, row.is_array() && row.size() == 2)) return;
      Key key{};
      Read(name, row[0], key);
      Read(name, row[1], map.emplace(std::move(key), make()).first->second);
    }
  }

 private:
  const Json* Member(std::string_view name) {
    const bool there = json_.is_object() && json_.contains(name);
    return Check(name, there) ? &json_.at(std::string(name)) : nullptr;
  }
  bool Check(std::string_view name, bool fits) {
    if (!fits && status_.ok()) status_ = Invalid(Format("state: '{}' is missing or wrong", name));
    return fits;
  }

  template <typename T>
  void Read(std::string_view name, const Json& json, T& value) {
    if constexpr (std::is_same_v<T, Time>) {
      if (Check(name, json.is_number_integer())) value = FromMicros(json.get<std::int64_t>());
    } else if constexpr (std::is_same_v<T, Subject>) {
      if (!Check(name, json.is_array() && json.size() == 3)) return;
      Read(name, json[0], value.node);
      Read(name, json[1], value.device);
      Read(name, json[2], value.rank);
    } else if constexpr (std::is_same_v<T, bool>) {
      if (Check(name, json.is_boolean())) value = json.get<bool>();
    } else if constexpr (std::is_integral_v<T>) {
      if (Check(name, json.is_number_integer())) value = json.get<T>();
    } else if constexpr (std::is_floating_point_v<T>) {
      if (Check(name, json.is_number())) value = json.get<T>();
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (Check(name, json.is_string())) value = json.get<std::string>();
    } else if constexpr (SavesItself<T>) {
      const Status loaded = value.Load(json);
      if (!loaded.ok() && status_.ok()) status_ = loaded;
    } else {
      StateReader inner(json, status_);
      value.Fields(inner);
    }
  }

  const Json& json_;
  Status& status_;
};

template <typename T>
Json SaveFields(const T& value) {
  StateWriter writer;
  const_cast<T&>(value).Fields(writer);  // a writer changes nothing
  return std::move(writer.json);
}

// Invalid names the first member that is missing or of another kind.
template <typename T>
Status LoadFields(const Json& json, T& value) {
  Status status;
  StateReader reader(json, status);
  value.Fields(reader);
  return status;
}

// A fold whose state is its Fields.
template <typename Rule>
class FieldsFold : public Fold {
 public:
  Json Save() const override { return SaveFields(static_cast<const Rule&>(*this)); }
  Status Load(const Json& state) override { return LoadFields(state, static_cast<Rule&>(*this)); }
};

// For RuleType::make: a fold made of parameters and facts, or of those of them that it wants.
template <typename Rule>
std::unique_ptr<Fold> MakeFold(const Params& params, const JobFacts& facts) {
  if constexpr (std::is_constructible_v<Rule, const Params&, const JobFacts&>) {
    return std::make_unique<Rule>(params, facts);
  } else if constexpr (std::is_constructible_v<Rule, const Params&>) {
    return std::make_unique<Rule>(params);
  } else if constexpr (std::is_constructible_v<Rule, const JobFacts&>) {
    return std::make_unique<Rule>(facts);
  } else {
    return std::make_unique<Rule>();
  }
}

}  // namespace stepscope
