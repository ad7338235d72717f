#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stepscope {

// Whose process it is. A name is "" where the node knows none.
struct Account {
  std::uint32_t uid = 0;
  std::string user{}, group{};
};

// The names of jobs that a process may have, by its user.
class NamePatterns {
 public:
  // Parses patterns with commas between them: '*' is any text and '?' any character; {user},
  // {group} and {uid} are those of the process. "" allows every name. Invalid names the fault.
  static Result<NamePatterns> Parse(std::string_view text);

  bool AllowEvery() const { return patterns_.empty(); }
  // The error says which names are allowed.
  Status Check(std::string_view job, const Account& account) const;

 private:
  std::vector<std::string> patterns_;
};

}  // namespace stepscope
