#include "core/base/json.h"

#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::int64_t kLargestInteger = std::int64_t{1} << 53;

// Walks the text once before anything is built: limits, duplicate keys and numbers are checked
// where they stand.
class Checker : public nlohmann::json_sax<Json> {
 public:
  explicit Checker(const JsonLimits& limits) : limits_(limits) {}

  const std::string& problem() const { return problem_; }

  bool null() override { return Count(); }
  bool boolean(bool) override { return Count(); }
  bool number_integer(number_integer_t value) override {
    return value < -kLargestInteger ? Refuse("an integer below -2^53") : Count();
  }
  bool number_unsigned(number_unsigned_t value) override {
    return value > static_cast<number_unsigned_t>(kLargestInteger) ? Refuse("an integer above 2^53")
                                                                   : Count();
  }
  bool number_float(number_float_t value, const string_t&) override {
    if (!std::isfinite(value)) return Refuse("a number that is not finite");
    return Count();
  }
  bool string(string_t& text) override { return CheckText(text) && Count(); }
  bool binary(binary_t&) override { return Refuse("binary content"); }
  bool key(string_t& name) override {
    if (!CheckText(name)) return false;
    if (!keys_.back().insert(name).second) {
      return Refuse(Format("the key '{}' twice", Printable(name, 40)));
    }
    return true;
  }
  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return Open();
  }
  bool end_object() override {
    keys_.pop_back();
    return Close();
  }
  bool start_array(std::size_t) override { return Open(); }
  bool end_array() override { return Close(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return Refuse(Format("a syntax error at byte {}", position));
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
  bool Close() {
    --depth_;
    return true;
  }

  const JsonLimits limits_;
  std::vector<std::set<std::string>> keys_;
  std::size_t values_ = 0;
  int depth_ = 0;
  std::string problem_;
};

template <typename Any>
std::string DumpAny(const Any& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Result<Json> ParseJson(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    return Invalid(Format("JSON: {} bytes, at most {} are allowed", text.size(), limits.bytes));
  }
  Checker checker(limits);
  if (!Json::sax_parse(text.begin(), text.end(), &checker)) {
    return Invalid(Format("JSON: {}", checker.problem()));
  }
  return Json::parse(text.begin(), text.end(), nullptr, false);
}

std::string Dump(const Json& json) {
  return DumpAny(json);
}
std::string Dump(const OrderedJson& json) {
  return DumpAny(json);
}

}  // namespace stepscope
