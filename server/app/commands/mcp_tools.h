#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/base/result.h"

namespace stepscope {

// An argument of a tool: a text that goes into the path ({name}) or the query of its call.
struct McpArgument {
  std::string_view name, help;
  bool required = false;
  std::string_view usual = {};    // what is asked for where an assistant names none; "": nothing
  std::string_view without = {};  // the value that stands for leaving it out of the call
};

// A call of the REST API that an assistant may make. All of them only read.
struct McpTool {
  std::string_view name, help;
  std::string_view path;  // "/api/v1/jobs/{name}"
  std::span<const McpArgument> arguments;
  std::string_view observed, derived;  // which parts of the answer were measured, and which follow
};
std::span<const McpTool> McpTools();

// The tool as the protocol lists it.
OrderedJson Describe(const McpTool& tool);

// The path and query of the tool's call. Invalid for an argument that is unknown, missing or no
// text or number.
Result<std::string> TargetOf(const McpTool& tool, const Json& arguments);

// The answer of the service with what in it is observed, derived and unknown.
OrderedJson Explained(const McpTool& tool, const Json& answer);

}  // namespace stepscope
