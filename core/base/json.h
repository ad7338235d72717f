#pragma once

// JSON of this project; the one place of this layer that includes nlohmann-json.

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stepscope {

using Json = nlohmann::json;
// Keeps the order in which keys were added: for answers that people read.
using OrderedJson = nlohmann::ordered_json;

struct JsonLimits {
  std::size_t bytes = 256 * 1024;
  int depth = 32;
  std::size_t values = 10'000;
};

// Refuses what is not JSON, duplicate keys, NUL characters, numbers that are not finite or are
// integers beyond 2^53, and texts above the limits. The error names the fault and its place, never
// the text itself.
Result<Json> ParseJson(std::string_view text, const JsonLimits& limits = {});

// Receives the values of a JSON text in order, for bodies that are too large to be built as a
// whole. A call that returns false ends the reading. Texts are valid during the call only.
class JsonSink {
 public:
  virtual ~JsonSink() = default;
  virtual bool Null() = 0;
  virtual bool Flag(bool value) = 0;
  virtual bool Integer(std::int64_t value) = 0;
  virtual bool Decimal(double value, std::string_view text) = 0;  // has a point or an exponent
  virtual bool Text(std::string_view text) = 0;
  virtual bool Key(std::string_view name) = 0;
  virtual bool BeginObject() = 0;
  virtual bool EndObject() = 0;
  virtual bool BeginArray() = 0;
  virtual bool EndArray() = 0;
};

// Passes the text to the sink in one pass, and refuses what ParseJson refuses; the sink may have
// received a part by then. When the sink ends the reading, only the sink knows why.
Status ReadJson(std::string_view text, JsonSink& sink, const JsonLimits& limits = {});

// Never throws: invalid UTF-8 becomes U+FFFD.
std::string Dump(const Json& json);
std::string Dump(const OrderedJson& json);

}  // namespace stepscope
