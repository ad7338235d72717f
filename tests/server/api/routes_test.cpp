#include "server/api/routes.h"

#include "core/base/text.h"
#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

class RoutesTest : public ApiTest {};

TEST_F(RoutesTest, OnADiskThatIsNearlyFullOnlyWhatMakesRoomChangesAnything) {
  PressureGauge gauge([] { return Load{.storage_low = true, .storage_nearly_full = true}; });
  gauge.Update();
  std::vector<std::string> go_on;
  for (const Route& route : ApiRoutes(service_.api())) {
    if (route.method == "GET" || gauge.Refuses(route.traffic)) continue;
    go_on.push_back(Format("{} {}", route.method, route.pattern));
  }
  EXPECT_EQ(go_on, (std::vector<std::string>{
                       "DELETE /api/v1/jobs/{name}", "DELETE /api/v1/webhooks/{id}",
                       "DELETE /api/v1/tokens/{id}", "POST /api/v1/session",
                       "DELETE /api/v1/session", "DELETE /api/v1/nodes/{id}/binding"}))
      << "docs/decisions/0009-full-disk.md says which";
}

}  // namespace
}  // namespace stepscope
