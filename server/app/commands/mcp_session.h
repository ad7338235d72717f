#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/base/result.h"

namespace stepscope {

// A session of the Model Context Protocol: JSON-RPC 2.0, a message a line. Every tool only reads.
// Wrong messages get an error, and none ends the session. One thread.
class McpSession {
 public:
  // Asks the service for a path; the error says what it said.
  using Ask = std::function<Result<Json>(const std::string& target)>;

  McpSession(Ask ask, std::string version) : ask_(std::move(ask)), version_(std::move(version)) {}

  // The answer to a line, which is a message or a batch of them; none to a notification.
  std::optional<std::string> Answer(std::string_view line);

 private:
  std::optional<std::string> AnswerOne(const Json& message);
  OrderedJson Call(const Json& parameters);
  OrderedJson Initialize(const Json& parameters) const;

  Ask ask_;
  std::string version_;
};

}  // namespace stepscope
