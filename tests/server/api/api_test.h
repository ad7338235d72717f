#pragma once

#include <gtest/gtest.h>

#include "tests/support/api_service.h"
#include "tests/support/pushes.h"

namespace stepscope {

inline constexpr std::int64_t kStartUs = 1'795'205'614'000'000;
inline constexpr std::int64_t kSecondUs = 1'000'000;

class ApiTest : public testing::Test {
 protected:
  explicit ApiTest(bool demand_tokens = false) : service_(demand_tokens) {}

  void ExpectProblem(const std::string& answer, int status, const std::string& code,
                     const std::string& words = "") {
    EXPECT_EQ(StatusOf(answer), status) << answer;
    const Json problem = ApiService::JsonOf(answer);
    EXPECT_EQ(problem.value("code", ""), code) << answer;
    EXPECT_NE(problem.value("detail", "").find(words), std::string::npos) << answer;
  }
  void Create(const std::string& name, const std::string& group = "") {
    const std::string answer =
        service_.Post("/api/v1/jobs", Dump(Json{{"name", name}, {"group", group}}));
    EXPECT_EQ(StatusOf(answer), 201) << answer;
  }
  void Push(const std::string& push) {
    const std::string answer = service_.Push(push);
    EXPECT_EQ(StatusOf(answer), 200) << answer;
    EXPECT_EQ(ApiService::JsonOf(answer)["rejected"], Json::array()) << answer;
  }

  ApiService service_;
};

}  // namespace stepscope
