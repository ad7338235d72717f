#include "server/store/postgres/bound_parameters.h"

namespace stepscope {

Result<BoundParameters> Bind(std::span<const Parameter> parameters) {
  BoundParameters bound;
  for (const Parameter& parameter : parameters) {
    const std::optional<std::string>& value = parameter.value();
    if (value && !parameter.binary() && value->find('\0') != std::string::npos) {
      return Invalid("database: text with a NUL character");
    }
    bound.types.push_back(parameter.type());
    bound.values.push_back(value ? value->data() : nullptr);
    bound.lengths.push_back(value ? static_cast<int>(value->size()) : 0);
    bound.formats.push_back(parameter.binary() ? 1 : 0);
  }
  return bound;
}

}  // namespace stepscope
