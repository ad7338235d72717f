#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace stepscope {

// The statements that a session prepares: one that comes a second time gets a name, under which
// PostgreSQL keeps it parsed.
class StatementNames {
 public:
  explicit StatementNames(std::size_t most = 500) : most_(most) {}

  struct Choice {
    std::string name;      // empty: it goes without one
    bool prepare = false;  // the name is new: prepare it first
  };
  // `types` are the types of the parameters: a statement with other types is another statement.
  Choice Next(std::string_view sql, std::span<const unsigned> types);
  // The name of a prepared statement; empty where it is not prepared.
  std::string Prepared(std::string_view sql, std::span<const unsigned> types) const;
  // Preparing failed: the next time tries again.
  void Forget(std::string_view sql, std::span<const unsigned> types);

 private:
  struct Statement {
    std::size_t number = 0;
    std::size_t uses = 0;
  };
  std::size_t most_;
  std::unordered_map<std::string, Statement> seen_;
};

}  // namespace stepscope
