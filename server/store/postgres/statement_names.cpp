#include "server/store/postgres/statement_names.h"

#include "core/base/text.h"

namespace stepscope {
namespace {

std::string KeyOf(std::string_view sql, std::span<const unsigned> types) {
  std::string key(sql);
  key.append(reinterpret_cast<const char*>(types.data()), types.size_bytes());
  return key;
}

std::string NameOf(std::size_t number) {
  return Format("s{}", number);
}

}  // namespace

StatementNames::Choice StatementNames::Next(std::string_view sql, std::span<const unsigned> types) {
  std::string key = KeyOf(sql, types);
  auto found = seen_.find(key);
  if (found == seen_.end()) {
    if (seen_.size() < most_) seen_.emplace(std::move(key), Statement{seen_.size(), 1});
    return {};
  }
  ++found->second.uses;
  return {NameOf(found->second.number), found->second.uses == 2};
}

std::string StatementNames::Prepared(std::string_view sql, std::span<const unsigned> types) const {
  const auto found = seen_.find(KeyOf(sql, types));
  const bool prepared = found != seen_.end() && found->second.uses > 1;
  return prepared ? NameOf(found->second.number) : "";
}

void StatementNames::Forget(std::string_view sql, std::span<const unsigned> types) {
  const auto found = seen_.find(KeyOf(sql, types));
  if (found != seen_.end()) found->second.uses = 1;
}

}  // namespace stepscope
