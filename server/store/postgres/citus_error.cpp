#include "server/store/postgres/citus_error.h"

#include <regex>
#include <string>

#include "core/base/text.h"
#include "server/store/postgres/sqlstate.h"

namespace stepscope {
namespace {

// "stepscope@10.0.0.7:5432", "db-3.example:5432", "[fd00::7]:5432".
constexpr char kAddress[] = R"((?:[^\s@"]+@)?(?:\[[0-9a-fA-F:.]+\]|[\w.-]+):[0-9]{2,5}\b)";
constexpr std::size_t kLongest = 300;

// Rows that Citus copies to a shard fail there with a message and no state.
bool IsDuplicate(std::string_view sqlstate, std::string_view said) {
  return sqlstate == "XX000" && said.starts_with("duplicate key value");
}

}  // namespace

Error CitusError(std::string_view sqlstate, std::string_view said) {
  const std::string_view kind = sqlstate.substr(0, 2);
  // 58: a machine could not be read or written; a copy to it that breaks off ends so.
  if (kind == "08" || kind == "58") {
    return Unavailable(Format("database: a machine of the cluster does not answer ({})", sqlstate));
  }
  static const std::regex address(kAddress);
  const std::string text = std::regex_replace(std::string(said.substr(0, kLongest)), address,
                                              "a machine of the cluster");
  const Code code = IsDuplicate(sqlstate, said) ? Code::kConflict : CodeOf(sqlstate);
  return {code, Format("database: {} ({})", text, sqlstate)};
}

}  // namespace stepscope
