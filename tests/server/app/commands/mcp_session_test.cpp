#include "server/app/commands/mcp_session.h"

#include <gtest/gtest.h>

#include <vector>

#include "server/app/commands/mcp_tools.h"

namespace stepscope {
namespace {

class McpTest : public testing::Test {
 protected:
  // The answer to a message; null to a notification.
  Json Say(const std::string& line) {
    const auto answer = session_.Answer(line);
    if (!answer) return Json();
    EXPECT_EQ(answer->find('\n'), std::string::npos) << "a message is one line";
    const Result<Json> json = ParseJson(*answer);
    EXPECT_TRUE(json.ok()) << *answer;
    return json ? *json : Json();
  }
  Json Call(const std::string& tool, const Json& arguments) {
    return Say(Dump(Json{{"jsonrpc", "2.0"},
                         {"id", 7},
                         {"method", "tools/call"},
                         {"params", {{"name", tool}, {"arguments", arguments}}}}));
  }

  std::vector<std::string> asked_;
  Result<Json> answers_ = Json{{"sentence", "Most was lost."}, {"missing", {"No GPU clock."}}};
  McpSession session_{[this](const std::string& target) {
                        asked_.push_back(target);
                        return answers_;
                      },
                      "1.2.3"};
};

TEST_F(McpTest, BeginsWithVersionToolsAndInstructions) {
  const Json begun = Say(
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05"}})")
      ["result"];
  EXPECT_EQ(begun["protocolVersion"], "2024-11-05");
  EXPECT_EQ(begun["serverInfo"]["version"], "1.2.3");
  EXPECT_EQ(
      Say(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"1999"}})")
          ["result"]["protocolVersion"],
      "2025-06-18");
  EXPECT_EQ(Say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"), Json());
  const Json tools = Say(R"({"jsonrpc":"2.0","id":"a","method":"tools/list"})");
  EXPECT_EQ(tools["id"], "a");
  EXPECT_EQ(tools["result"]["tools"].size(), McpTools().size());
  for (const Json& tool : tools["result"]["tools"])
    EXPECT_EQ(tool["annotations"]["readOnlyHint"], true) << tool;
}

TEST_F(McpTest, AnAnswerSaysWhatIsObservedDerivedAndUnknown) {
  const Json result = Call("diagnose_job", {{"name", "mlp-1"}})["result"];
  EXPECT_EQ(asked_, std::vector<std::string>{"/api/v1/jobs/mlp-1/diagnosis"});
  EXPECT_EQ(result["isError"], false);
  const Json told = *ParseJson(result["content"][0]["text"].get<std::string>());
  EXPECT_EQ(told["answer"]["sentence"], "Most was lost.");
  for (const char* part : {"observed", "derived"})
    EXPECT_TRUE(told["how_to_read"][part].is_string()) << part;
  EXPECT_EQ(told["how_to_read"]["unknown"].back(), "No GPU clock.");
}

TEST_F(McpTest, ArgumentsStayInTheirPlaceOfTheAddress) {
  Call("read_series",
       {{"name", "../tokens?a=b#c"}, {"metric", "gpu_util_percent,x&y"}, {"points", 10}});
  EXPECT_EQ(asked_.back(),
            "/api/v1/jobs/..%2Ftokens%3Fa%3Db%23c/metrics?metric=gpu_util_percent%2Cx%26y&points=10"
            "&fold=metric");
  Call("compare_jobs", {{"a", "one"}, {"b", "two"}});
  EXPECT_EQ(asked_.back(), "/api/v1/compare?a=one&b=two");
  Call("list_jobs", Json::object());
  EXPECT_EQ(asked_.back(), "/api/v1/jobs");
}

TEST_F(McpTest, WhatIsLeftOutIsAskedForInSizesThatAssistantsRead) {
  Call("read_series", {{"name", "a"}, {"metric", "m"}});
  EXPECT_EQ(asked_.back(), "/api/v1/jobs/a/metrics?metric=m&points=60&fold=metric");
  Call("read_series", {{"name", "a"}, {"metric", "m"}, {"fold", "each"}});
  EXPECT_EQ(asked_.back(), "/api/v1/jobs/a/metrics?metric=m&points=60");
  Call("read_steps", {{"name", "a"}});
  EXPECT_EQ(asked_.back(), "/api/v1/jobs/a/steps?most=4&bins=10");
  answers_ = Json{{"sentence", std::string(400'000, 'x')}};
  const Json steps = Call("read_steps", {{"name", "a"}})["result"];
  EXPECT_EQ(steps["isError"], true);
  const auto said = steps["content"][0]["text"].get<std::string>();
  EXPECT_NE(said.find("300 KB are the most: ask for less with rank, most, bins"), said.npos)
      << said;
}

TEST_F(McpTest, ABatchIsAnsweredTogether) {
  const Json answers = Say(
      R"([{"id":1,"method":"ping"},{"method":"notifications/initialized"},{"id":2,"method":"x"},3])");
  ASSERT_EQ(answers.size(), 3u) << answers;
  EXPECT_EQ(answers[0]["result"], Json::object());
  EXPECT_EQ(answers[1]["error"]["code"], -32601);
  EXPECT_EQ(answers[2]["error"]["code"], -32600);
  EXPECT_EQ(Say(R"([{"method":"notifications/initialized"}])"), Json());
  EXPECT_EQ(Say("[]")["error"]["code"], -32600);
  std::string many = "[0";
  for (int i = 0; i < 40; ++i) many += ",0";
  EXPECT_EQ(Say(many + "]")["error"]["code"], -32600);
}

TEST_F(McpTest, WrongArgumentsAndRefusalsAreErrorsOfTheTool) {
  for (const Json& arguments : {Json::object(), Json{{"name", "x"}, {"shell", "rm"}},
                                Json{{"name", Json::array()}}, Json("text")}) {
    EXPECT_EQ(Call("describe_job", arguments)["result"]["isError"], true) << arguments;
  }
  EXPECT_TRUE(asked_.empty());
  answers_ = Unavailable("the service answered 404: No such job");
  const Json result = Call("describe_job", {{"name", "gone"}})["result"];
  EXPECT_EQ(result["isError"], true);
  EXPECT_EQ(result["content"][0]["text"], "the service answered 404: No such job");
}

TEST_F(McpTest, WhatIsNoMessageGetsAnErrorAndEndsNothing) {
  EXPECT_EQ(Say("{")["error"]["code"], -32700);
  EXPECT_EQ(Say("[1]")[0]["error"]["code"], -32600);
  EXPECT_EQ(Say(R"({"id":{},"method":"ping"})")["error"]["code"], -32600);
  EXPECT_EQ(Say(R"({"id":1,"method":"tools/call","params":{"name":"rm"}})")["error"]["code"],
            -32602);
  EXPECT_EQ(Say(R"({"id":1,"method":"tools/call","params":[]})")["error"]["code"], -32602);
  EXPECT_EQ(Say(R"({"id":1,"method":"resources/list"})")["error"]["code"], -32601);
  EXPECT_EQ(Say(std::string(300'000, '['))["error"]["code"], -32700);
  EXPECT_EQ(Say(R"({"id":1,"method":"ping"})")["result"], Json::object());
}

}  // namespace
}  // namespace stepscope
