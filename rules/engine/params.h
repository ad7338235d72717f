#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/base/time.h"

namespace stepscope {

// A row of a rule's parameter table: checking, the API's catalog and the documentation read it. The
// units "steps" and "repeats" take whole numbers. "samples" takes a whole number of ticks, or text
// with a unit ("250s") for a stretch of time that means the same at every interval.
struct Param {
  std::string_view name;
  double fallback = 0;
  double least = 0, most = 0;  // both allowed
  std::string_view unit;       // "%", "samples", "steps", ...
  std::string_view help;
  // The choices of a parameter that is one of these texts; its value is the place in the list, from
  // 0.
  std::span<const std::string_view> choices = {};
  // Checks a parameter that is free text; it has no default and must be given. The error continues
  // "..., but must be".
  Status (*good_text)(const std::string& text) = nullptr;
  // Says what a number without a default must be given as. The error is "... must be given, as".
  std::string_view required = {};
  // Another parameter of the table that this one must not be above: a contradictory pair is
  // refused.
  std::string_view not_above = {};
};

// Whether the parameter has no default.
bool IsRequired(const Param& param);

// The parameters with defaults filled in, as they are stored and shown. Each error is one sentence
// with rule, parameter, value and range; a parameter that is not in the table is refused.
Result<Json> CompleteParams(std::string_view rule, std::span<const Param> table, const Json& given);

// Checked parameters, ready to use. Asking for a name that is not in the table is a bug.
class Params {
 public:
  static Result<Params> Read(std::string_view rule, std::span<const Param> table, const Json& given,
                             Duration interval);

  double operator[](std::string_view name) const;
  // A parameter in samples as a number of ticks at the job's interval.
  std::int64_t Samples(std::string_view name) const;
  // The value of a parameter that is text.
  const std::string& Text(std::string_view name) const;

 private:
  struct Value {
    std::string_view name;  // points into the table, which outlives this
    double number = 0;
    std::string text;
  };
  const Value& Find(std::string_view name) const;
  std::vector<Value> values_;
};

}  // namespace stepscope
