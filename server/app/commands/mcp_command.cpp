#include "server/app/commands/mcp_command.h"

#include <fstream>
#include <iostream>
#include <memory>

#include "core/base/json_members.h"
#include "core/base/options.h"
#include "core/base/text.h"
#include "core/http/client.h"
#include "server/app/commands/mcp_session.h"

namespace stepscope {
namespace {

constexpr std::size_t kLongestToken = 4096, kMostAnswer = 8 * 1024 * 1024;
constexpr JsonLimits kAnswerLimits = {.bytes = kMostAnswer, .depth = 64, .values = 2'000'000};
constexpr std::size_t kLongestLine = 256 * 1024;

constexpr std::string_view kExamples = R"(
An assistant starts it and speaks the Model Context Protocol with it, a JSON message a line. It only
reads; docs/mcp.md has how to connect one.

  stepscope-server token create --role reader --name assistant > reader.token
  stepscope-server mcp --server https://stepscope.example --token-file reader.token
)";

constexpr Option kOptions[] = {
    {"--server", "URL", "http://127.0.0.1:8080", "Address of the service."},
    {"--token-file", "FILE", "",
     "File with a token of the role reader, where the service demands one."},
    {"--ca-file", "FILE", "",
     "Certificates of authorities that the service's certificate is checked with."}};

Result<std::string> ReadToken(const std::string& path) {
  if (path.empty()) return std::string();
  std::ifstream file(path);
  if (!file) return Invalid(Format("--token-file: {} cannot be read", path));
  std::string text;
  std::getline(file, text);
  text = std::string(Trim(text));
  if (text.empty() || text.size() > kLongestToken)
    return Invalid(Format("--token-file: {} has no token in its first line", path));
  return text;
}

// What the service said in place of an answer.
Error Refusal(const HttpAnswer& answer) {
  const Result<Json> problem = ParseJson(answer.body, kAnswerLimits);
  const std::string title = problem && problem->is_object() ? TextOf(*problem, "title") : "";
  const std::string detail = problem && problem->is_object() ? TextOf(*problem, "detail") : "";
  return Unavailable(Format("the service answered {}: {}{}{}", answer.status, title,
                            detail.empty() ? "" : ": ", detail));
}

McpSession::Ask AskWith(HttpClient& client, const std::string& base, const std::string& token) {
  return [&client, base, token](const std::string& target) -> Result<Json> {
    HttpRequest request{
        .method = "GET", .target = base + target, .headers = {{"Accept", "application/json"}}};
    if (!token.empty()) request.headers.emplace_back("Authorization", "Bearer " + token);
    const Result<HttpAnswer> answer = client.Send(request);
    if (!answer) return answer.error();
    if (answer->status != 200) return Refusal(*answer);
    return ParseJson(answer->body, kAnswerLimits);
  };
}

Result<std::unique_ptr<HttpClient>> Connect(const Arguments& arguments) {
  const Result<Url> url = ParseUrl(arguments["--server"]);
  if (!url) return Invalid("--server: " + url.error().message);
  return HttpClient::Make(
      *url, {.answer_bytes = kMostAnswer, .tls = {.ca_file = arguments["--ca-file"]}});
}

// Answers lines until the input ends.
Status Speak(const Arguments& arguments, std::string_view version) {
  const Result<std::string> token = ReadToken(arguments["--token-file"]);
  if (!token) return token.error();
  const auto client = Connect(arguments);
  if (!client) return client.error();
  std::string base = (*client)->url().target;
  while (base.ends_with('/')) base.pop_back();
  McpSession session(AskWith(**client, base, *token), std::string(version));
  std::string line;
  while (std::getline(std::cin, line)) {
    if (Trim(line).empty()) continue;
    if (line.size() > kLongestLine)
      line.resize(kLongestLine);  // no JSON any more: it gets an error
    if (const auto answer = session.Answer(line)) std::cout << *answer << std::endl;
  }
  return {};
}

}  // namespace

int RunMcp(Words words, std::string_view version) {
  const Result<Arguments> arguments = ParseArguments(kOptions, words, false);
  if (!arguments) return Complain("mcp: " + arguments.error().message, kUsage);
  if (arguments->help) {
    Print(stdout, Format("stepscope-server mcp: let an assistant ask about jobs.\n\n{}{}",
                         OptionsHelp(kOptions), kExamples));
    return 0;
  }
  const Status spoken = Speak(*arguments, version);
  if (spoken) return 0;
  return Complain("mcp: " + spoken.error().message,
                  spoken.error().code == Code::kInvalid ? kUsage : kFailed);
}

}  // namespace stepscope
