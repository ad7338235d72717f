#pragma once

// JSON of this project; the one place of this layer that includes nlohmann-json.

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stepscope {

using Json = nlohmann::json;
// Keeps the order in which keys were put in: for answers that people read.
using OrderedJson = nlohmann::ordered_json;

struct JsonLimits {
  std::size_t bytes = 256 * 1024;
  int depth = 32;
  std::size_t values = 10'000;
};

// Refuses what is not JSON, duplicate keys, NUL characters, numbers that are not finite or are
// integers beyond 2^53, and what is above the limits. The error says what and where, never the text
// itself.
Result<Json> ParseJson(std::string_view text, const JsonLimits& limits = {});

// What stands in a JSON text, in its order: for bodies that are too large to be built as a whole. A
// call that says false ends the reading. Texts are valid for the call.
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

// Shows the text to the sink, once and in one pass, and refuses what ParseJson refuses. The sink
// may have seen a part by then. Why a sink ended the reading only the sink knows.
Status ReadJson(std::string_view text, JsonSink& sink, const JsonLimits& limits = {});

// Never throws: invalid UTF-8 becomes U+FFFD.
std::string Dump(const Json& json);
std::string Dump(const OrderedJson& json);

}  // namespace stepscope
