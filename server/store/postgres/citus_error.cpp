#include "server/store/postgres/citus_error.h"

#include <algorithm>
#include <regex>
#include <string>

#include "core/base/text.h"
#include "server/store/postgres/sqlstate.h"

namespace stepscope {
namespace {

// "stepscope@10.0.0.7:5432", "db-3.example:5432", "[fd00::7]:5432", "fd00::7:5432".
constexpr char kAddress[] = R"((?:[^\s@"]+@)?(?:\[[0-9a-fA-F:.]+\]|[0-9a-fA-F:]*::[0-9a-fA-F:.]*|)"
                            R"((?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}|[\w.-]+):[0-9]{2,5}\b)";
constexpr std::size_t kLongest = 300;

// Rows that Citus copies to a shard fail there with a message and no state.
bool IsDuplicate(std::string_view sqlstate, std::string_view said) {
  return sqlstate == "XX000" && said.starts_with("duplicate key value");
}

// Nor has a state what became of a session that the coordinator kept with a machine: it ended when
// the machine was away, which is seen when it is used for the first time afterwards.
bool IsLostSession(std::string_view sqlstate, std::string_view said) {
  constexpr std::string_view kLost[] = {"marked as essential", "connection not open",
                                        "server closed the connection", "terminating connection"};
  return sqlstate == "XX000" && std::ranges::any_of(kLost, [&](std::string_view words) {
           return said.find(words) != std::string_view::npos;
         });
}

}  // namespace

Error CitusError(std::string_view sqlstate, std::string_view said) {
  const std::string_view kind = sqlstate.substr(0, 2);
  // 58: a machine could not be read or written; a copy to it that breaks off ends so.
  if (kind == "08" || kind == "58" || IsLostSession(sqlstate, said)) {
    return Unavailable(Format("database: a machine of the cluster does not answer ({})", sqlstate));
  }
  static const std::regex address(kAddress);
  const std::string text = std::regex_replace(std::string(said.substr(0, kLongest)), address,
                                              "a machine of the cluster");
  const Code code = IsDuplicate(sqlstate, said) ? Code::kConflict : CodeOf(sqlstate);
  return {code, Format("database: {} ({})", text, sqlstate)};
}

}  // namespace stepscope
