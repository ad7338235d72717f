#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "server/front/problem.h"

namespace stepscope {

// A JSON body being checked: every getter notes a fault with its JSON pointer and returns a
// harmless value. Use the values only when there is no fault.
class Body {
 public:
  // Faulty when the text is not a JSON object; then nothing else is noted, for its content is
  // unknown. An empty body counts as {}.
  explicit Body(const Request& request);

  const Json& root() const { return root_; }
  const std::vector<Fault>& faults() const { return faults_; }
  Reply Refusal(const Request& request) const;  // 400 with all faults
  void Note(std::string pointer, const std::string& detail);

  // Members of `object`, which is at `pointer`. An absent member gives the fallback.
  void AllowOnly(const Json& object, const std::string& pointer,
                 std::initializer_list<std::string_view> names);
  std::string Text(const Json& object, const std::string& pointer, const char* name,
                   std::size_t most);
  std::int64_t Integer(const Json& object, const std::string& pointer, const char* name,
                       std::int64_t least, std::int64_t most, std::int64_t fallback);
  bool Bool(const Json& object, const std::string& pointer, const char* name, bool fallback);
  Json Object(const Json& object, const std::string& pointer, const char* name);
  Json Array(const Json& object, const std::string& pointer, const char* name, std::size_t most);

 private:
  Json root_ = Json::object();
  bool readable_ = true;
  std::vector<Fault> faults_;
};

}  // namespace stepscope
