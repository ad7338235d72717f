#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.h"
#include "server/front/problem.h"

namespace stepscope {

// A query parameter that a call takes.
struct QueryParameter {
  enum Kind {
    kText,     // `least` to `most` bytes of valid UTF-8 without control characters
    kInteger,  // `least` to `most`
    kTime,     // RFC 3339
    kWord,     // one of `words`
    kWords,    // some of `words`, separated by commas
    kTexts,    // `least` to `most` texts of at most 63 bytes, separated by commas
    kCursor,   // base64url
  };
  std::string_view name;
  Kind kind = kText;
  std::int64_t least = 1, most = 63;
  std::span<const std::string_view> words = {};
};

inline constexpr QueryParameter kCursorParameter = {"cursor", QueryParameter::kCursor};
inline constexpr QueryParameter kLimitParameter = {"limit", QueryParameter::kInteger, 1, 500};
inline constexpr QueryParameter kPageQuery[] = {kCursorParameter, kLimitParameter};

// The query of a request, checked against the table of its call: other parameters are refused. Read
// values only when there is no fault.
class Query {
 public:
  Query(const Request& request, std::span<const QueryParameter> table);

  const std::vector<Fault>& faults() const { return faults_; }
  // 400 with all faults.
  Reply Refusal(const Request& request) const;
  // 400 for a fault that only the handler can see.
  static Reply Refuse(const Request& request, std::string parameter, std::string detail);

  bool Has(std::string_view name) const { return values_.contains(name); }
  std::string Text(std::string_view name) const;  // "" when absent
  std::int64_t Int(std::string_view name, std::int64_t fallback) const;
  std::optional<std::int64_t> MaybeInt(std::string_view name) const;
  std::optional<std::int64_t> MaybeTimeUs(std::string_view name) const;
  std::vector<std::string> Texts(std::string_view name) const;  // empty when absent

 private:
  void Check(const std::string& name, const std::string& value,
             std::span<const QueryParameter> table);

  std::map<std::string, std::string, std::less<>> values_;
  std::vector<Fault> faults_;
};

}  // namespace stepscope
