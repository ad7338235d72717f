#include "core/base/json.h"

#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::int64_t kLargestInteger = std::int64_t{1} << 53;
// nlohmann-json's number for this error: valid syntax, but more than a double holds.
constexpr int kNumberOutOfRange = 406;

// Accepts every event, to only check a text.
struct NoSink final : JsonSink {
  bool Null() override { return true; }
  bool Flag(bool) override { return true; }
  bool Integer(std::int64_t) override { return true; }
  bool Decimal(double, std::string_view) override { return true; }
  bool Text(std::string_view) override { return true; }
  bool Key(std::string_view) override { return true; }
  bool BeginObject() override { return true; }
  bool EndObject() override { return true; }
  bool BeginArray() override { return true; }
  bool EndArray() override { return true; }
};

// Walks the text once: checks limits, duplicate keys and numbers before the sink gets them.
class Checker final : public nlohmann::json_sax<Json> {
 public:
  Checker(JsonSink& sink, const JsonLimits& limits) : sink_(sink), limits_(limits) {}

  const std::string& problem() const { return problem_; }

  bool null() override { return Count() && sink_.Null(); }
  bool boolean(bool value) override { return Count() && sink_.Flag(value); }
  bool number_integer(number_integer_t value) override {
    if (value < -kLargestInteger) return Refuse("an integer below -2^53");
    return Count() && sink_.Integer(value);
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(kLargestInteger)) {
      return Refuse("an integer above 2^53");
    }
    return Count() && sink_.Integer(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    if (!std::isfinite(value)) return Refuse("a number that is not finite");
    return Count() && sink_.Decimal(value, text);
  }
  bool string(string_t& text) override { return CheckText(text) && Count() && sink_.Text(text); }
  bool binary(binary_t&) override { return Refuse("binary content"); }
  bool key(string_t& name) override {
    if (!CheckText(name)) return false;
    if (!keys_.back().insert(name).second) {
      return Refuse(Format("the key '{}' twice", Printable(name, 40)));
    }
    return sink_.Key(name);
  }
  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return Open() && sink_.BeginObject();
  }
  bool end_object() override {
    keys_.pop_back();
    --depth_;
    return sink_.EndObject();
  }
  bool start_array(std::size_t) override { return Open() && sink_.BeginArray(); }
  bool end_array() override {
    --depth_;
    return sink_.EndArray();
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& fault) override {
    const bool out_of_range = fault.id == kNumberOutOfRange;
    return Refuse(
        Format("a {} at byte {}", out_of_range ? "number out of range" : "syntax error", position));
  }

 private:
  bool Refuse(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }
  bool CheckText(const std::string& text) {
    return text.find('\0') == std::string::npos || Refuse("a NUL character in a string");
  }
  bool Count() {
    return ++values_ <= limits_.values || Refuse(Format("more than {} values", limits_.values));
  }
  bool Open() {
    if (++depth_ > limits_.depth) return Refuse(Format("more than {} levels", limits_.depth));
    return Count();
  }

  JsonSink& sink_;
  const JsonLimits limits_;
  std::vector<std::set<std::string>> keys_;
  std::size_t values_ = 0;
  int depth_ = 0;
  std::string problem_ = "not what is wanted";  // set by the sink, unless the checker knows better
};

template <typename Any>
std::string DumpAny(const Any& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Status ReadJson(std::string_view text, JsonSink& sink, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    return Invalid(Format("JSON: {} bytes, at most {} are allowed", text.size(), limits.bytes));
  }
  Checker checker(sink, limits);
  if (Json::sax_parse(text.begin(), text.end(), &checker)) return {};
  return Invalid(Format("JSON: {}", checker.problem()));
}

Result<Json> ParseJson(std::string_view text, const JsonLimits& limits) {
  NoSink sink;
  if (const Status checked = ReadJson(text, sink, limits); !checked) return checked.error();
  return Json::parse(text.begin(), text.end(), nullptr, false);
}

std::string Dump(const Json& json) {
  return DumpAny(json);
}
std::string Dump(const OrderedJson& json) {
  return DumpAny(json);
}

}  // namespace stepscope
