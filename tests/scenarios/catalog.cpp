#include "tests/scenarios/catalog.h"

namespace stepscope::scenarios {

std::vector<NamedScenario> AllScenarios() {
  std::vector<NamedScenario> all;
  for (const auto part : {Stages(), Suspects(), LateRanks(), Edges()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

const NamedScenario* FindScenario(std::span<const NamedScenario> all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &NamedScenario::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace stepscope::scenarios
