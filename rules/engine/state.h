#pragma once

// A fold's state as bytes, in the order of its members: each with a mark of its name, so that the
// state of another version of the fold is refused. A type lists its members once, for both ways:
//
//   template <typename State>
//   void Fields(State& state) {
//     state("scans", scans);
//     state("gpus", gpus, [this] { return NewGpu(); });
//   }
//
// The states of an earlier version load: a member that it did not have is `state.Added`, and one
// that only it had is `state.Dropped`. Neither is the last one of its type, so that a state which
// was cut there is refused.

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/base/result.h"
#include "core/base/text.h"
#include "core/base/time.h"
#include "core/wire/bytes.h"
#include "rules/engine/rule.h"

namespace stepscope {

// Types that know how to be saved by themselves, such as histograms.
template <typename T>
concept SavesItself = requires(T value, std::string_view bytes) {
  std::string(std::as_const(value).Save());
  { value.Load(bytes) } -> std::same_as<Status>;
};

// FNV-1a of the name, folded to 16 bits.
constexpr std::uint16_t StateMark(std::string_view name) {
  std::uint32_t hash = 2'166'136'261;
  for (const char letter : name) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 16'777'619;
  }
  return static_cast<std::uint16_t>(hash ^ hash >> 16);
}

class StateWriter {
 public:
  std::string bytes;

  template <typename T>
  void operator()(std::string_view name, const T& value) {
    Put(bytes, StateMark(name));
    Write(value);
  }
  template <typename Key, typename T, typename Make>
  void operator()(std::string_view name, const std::map<Key, T, std::less<>>& map, Make&&) {
    Put(bytes, StateMark(name));
    PutVarint(bytes, map.size());
    for (const auto& [key, value] : map) {
      Write(key);
      Write(value);
    }
  }
  template <typename... Member>
  void Added(std::string_view name, const Member&... member) {
    (*this)(name, member...);
  }
  template <typename T>
  void Dropped(std::string_view, T&&) {}
  template <typename T>
  void Members(const T& value) {
    const_cast<T&>(value).Fields(*this);  // a writer changes nothing
  }

 private:
  void Write(const std::optional<Time>& value) {
    Write(value.has_value());
    if (value) Write(*value);
  }
  void Write(const Time& value) { Write(ToMicros(value)); }
  void Write(const Subject& value) {
    Write(value.node);
    Write(value.device);
    Write(value.rank);
  }
  void Write(const std::string& value) { PutText(bytes, value); }
  template <typename T>
  void Write(const T& value) {
    if constexpr (std::is_floating_point_v<T>) {
      Put(bytes, std::bit_cast<std::uint64_t>(static_cast<double>(value)));
    } else if constexpr (std::is_integral_v<T>) {
      PutVarint(bytes, ZigZag(static_cast<std::int64_t>(value)));
    } else if constexpr (SavesItself<T>) {
      PutText(bytes, value.Save());
    } else {
      Members(value);
    }
  }
};

// Keeps the first error; a member that cannot be read stays unchanged.
class StateReader {
 public:
  StateReader(std::string_view bytes, Status& status) : reader_(bytes), status_(status) {}

  template <typename T>
  void operator()(std::string_view name, T& value) {
    if (Begins(name)) Read(name, value);
  }
  // `make` makes the value that a row is read into.
  template <typename Key, typename T, typename Make>
  void operator()(std::string_view name, std::map<Key, T, std::less<>>& map, Make&& make) {
    if (!Begins(name)) return;
    const std::uint64_t rows = reader_.TakeVarint();
    if (!Check(name, true)) return;
    map.clear();
    for (std::uint64_t row = 0; row < rows && status_.ok(); ++row) {
      Key key{};
      Read(name, key);
      Read(name, map.emplace_hint(map.end(), std::move(key), make())->second);
    }
  }

  template <typename... Member>
  void Added(std::string_view name, Member&&... member) {
    if (IsNext(name)) (*this)(name, std::forward<Member>(member)...);
  }
  // `value` is what the member is read into, to be thrown away.
  template <typename T>
  void Dropped(std::string_view name, T&& value) {
    if (IsNext(name)) (*this)(name, value);
  }
  // Whether the next member has this name; reads nothing.
  bool Comes(std::string_view name) const {
    ByteReader next = reader_;
    return next.Take<std::uint16_t>() == StateMark(name) && next.ok();
  }

  void End() {
    if (status_.ok() && reader_.left() > 0) status_ = Invalid("state: it goes on behind its end");
  }

 private:
  bool IsNext(std::string_view name) const { return status_.ok() && Comes(name); }
  bool Begins(std::string_view name) {
    return status_.ok() && Check(name, reader_.Take<std::uint16_t>() == StateMark(name));
  }
  bool Check(std::string_view name, bool fits) {
    const bool read = fits && reader_.ok();
    if (!read && status_.ok()) status_ = Invalid(Format("state: '{}' is missing or wrong", name));
    return read;
  }

  void Read(std::string_view name, std::optional<Time>& value) {
    bool known = false;
    Read(name, known);
    value.reset();
    if (known) Read(name, value.emplace());
  }
  void Read(std::string_view name, Time& value) {
    constexpr std::int64_t kMostMicros = std::numeric_limits<std::int64_t>::max() / 1'000;
    std::int64_t us = 0;
    Read(name, us);
    if (Check(name, -kMostMicros <= us && us <= kMostMicros)) value = FromMicros(us);
  }
  void Read(std::string_view name, Subject& value) {
    Read(name, value.node);
    Read(name, value.device);
    Read(name, value.rank);
  }
  void Read(std::string_view name, std::string& value) {
    const std::string_view text = reader_.TakeText(reader_.left());
    if (Check(name, true)) value = text;
  }
  template <typename T>
  void Read(std::string_view name, T& value) {
    if constexpr (std::is_floating_point_v<T>) {
      const auto number = std::bit_cast<double>(reader_.Take<std::uint64_t>());
      if (Check(name, std::isfinite(number))) value = static_cast<T>(number);
    } else if constexpr (std::is_integral_v<T>) {
      const std::int64_t number = UnZigZag(reader_.TakeVarint());
      if (Check(name, FitsIn<T>(number))) value = static_cast<T>(number);
    } else if constexpr (SavesItself<T>) {
      const std::string_view bytes = reader_.TakeText(reader_.left());
      if (!Check(name, true)) return;
      if (const Status loaded = value.Load(bytes); !loaded.ok()) status_ = loaded;
    } else {
      value.Fields(*this);
    }
  }
  template <typename T>
  static bool FitsIn(std::int64_t number) {
    return static_cast<std::int64_t>(static_cast<T>(number)) == number;
  }

  ByteReader reader_;
  Status& status_;
};

template <typename T>
std::string SaveFields(const T& value) {
  StateWriter writer;
  writer.Members(value);
  return std::move(writer.bytes);
}

// The error Invalid names the first member that is missing or of another kind.
template <typename T>
Status LoadFields(std::string_view bytes, T& value) {
  Status status;
  StateReader reader(bytes, status);
  value.Fields(reader);
  reader.End();
  return status;
}

// A fold whose state is its Fields.
template <typename Rule>
class FieldsFold : public Fold {
 public:
  std::string Save() const override { return SaveFields(static_cast<const Rule&>(*this)); }
  Status Load(std::string_view state) override {
    return LoadFields(state, static_cast<Rule&>(*this));
  }
};

// For RuleType::make: makes a fold from parameters and facts, or from one of them, as its
// constructor takes.
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
