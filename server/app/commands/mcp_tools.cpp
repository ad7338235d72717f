#include "server/app/commands/mcp_tools.h"

#include <algorithm>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr McpArgument kJob = {"name", "The name of a job.", true};

constexpr McpArgument kListArguments[] = {
    {"name_contains", "Part of the name."},
    {"group", "The whole name of a group."},
    {"status", "InProgress, Completed, Failed, Stopping or Stopped; several with commas."},
    {"verdict", "issues, none or unknown."},
    {"limit", "The most jobs, 1 to 500."}};
constexpr McpArgument kJobArguments[] = {kJob};
constexpr McpArgument kCompareArguments[] = {{"a", "The job that is the measure.", true},
                                             {"b", "The job that is compared with it.", true}};
constexpr McpArgument kSeriesArguments[] = {
    kJob,
    {"metric", "Names of metrics with commas, such as gpu_util_percent,node_cpu_percent.", true},
    {"points", "The most points of a series, 1 to 1000; 60 when left out.", false, "60"},
    {"fold",
     "metric (when left out): one series of each metric, over all its nodes and devices. each: a "
     "series of each device.",
     false, "metric", "each"},
    {"node", "Only this node."},
    {"from_us", "From this time, in microseconds since the epoch."},
    {"to_us", "Up to this time."}};
constexpr McpArgument kStepArguments[] = {
    kJob,
    {"rank", "Only this rank."},
    {"most", "The most ranks, 1 to 256; 4 when left out.", false, "4"},
    {"bins", "The points over time, 1 to 500; 10 when left out.", false, "10"}};

constexpr std::string_view kSampled =
    "times, counters and samples that agents and training processes reported";

constexpr McpTool kTools[] = {
    {"list_jobs", "Lists training jobs with status, use, median step and rules in trouble.",
     "/api/v1/jobs", kListArguments, "names, times, nodes, GPUs, use and step times",
     "verdict and rules_in_trouble, by rules"},
    {"describe_job", "Describes a job: status, nodes, ranks, facts, rules with their verdicts.",
     "/api/v1/jobs/{name}", kJobArguments,
     "status, times, nodes, ranks and facts as they were reported",
     "verdicts of rules and the diagnosis"},
    {"diagnose_job", "Says where the time of a training went, and what to do about it.",
     "/api/v1/jobs/{name}/diagnosis", kJobArguments, kSampled,
     "sentence, shares and speed_up (the most that doing away with a cause gains)"},
    {"compare_jobs", "Compares two jobs: step times with a confidence interval, and what differs.",
     "/api/v1/compare", kCompareArguments, "step times, phases, configuration and facts",
     "steps.change (Welch's t test on ten parts of each run), budget and rules"},
    {"read_series", "Reads metrics of a job over time, as least, mean and greatest of each bin.",
     "/api/v1/jobs/{name}/metrics", kSeriesArguments, kSampled,
     "the bins: min, mean and max of samples"},
    {"read_steps", "Reads step times and phases of ranks.", "/api/v1/jobs/{name}/steps",
     kStepArguments, "step times and phases as training processes marked them",
     "percentiles, histograms and shares"},
    {"list_findings", "Lists the stretches of time in which rules fired, with their evidence.",
     "/api/v1/jobs/{name}/findings", kJobArguments, "the numbers in evidence",
     "that a rule fired, by its thresholds"},
    {"list_windows", "Lists the windows of steps for which single spans are stored.",
     "/api/v1/jobs/{name}/windows", kJobArguments, "which nodes recorded how many spans",
     "nothing"}};

// Percent-encoded, so that no text leaves its place in the address.
std::string Encoded(std::string_view text) {
  std::string encoded;
  for (const char letter : text) {
    const bool plain = (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= 'a' && letter <= 'z') || letter == '-' || letter == '_' ||
                       letter == '.';
    encoded +=
        plain ? std::string(1, letter) : Format("%{:02X}", static_cast<unsigned char>(letter));
  }
  return encoded;
}

Result<std::string> TextOf(const McpArgument& argument, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return stepscope::Dump(value);
  return Invalid(Format("{}: must be a text", argument.name));
}

// What is not known of an answer: values that are null, and what a diagnosis says is not seen.
OrderedJson UnknownOf(const Json& answer) {
  OrderedJson unknown = OrderedJson::array();
  unknown.push_back(
      "null stands for what was not measured or not reported; a verdict \"unknown\" "
      "means that there was too little to judge by, not that all is well");
  const auto missing = answer.is_object() ? answer.find("missing") : answer.end();
  if (missing == answer.end() || !missing->is_array()) return unknown;
  for (const Json& sentence : *missing) unknown.push_back(OrderedJson(sentence));
  return unknown;
}

}  // namespace

std::span<const McpTool> McpTools() {
  return kTools;
}

OrderedJson Describe(const McpTool& tool) {
  OrderedJson properties = OrderedJson::object(), required = OrderedJson::array();
  for (const McpArgument& argument : tool.arguments) {
    properties[std::string(argument.name)] = {{"type", "string"}, {"description", argument.help}};
    if (argument.required) required.push_back(argument.name);
  }
  return {{"name", tool.name},
          {"description", tool.help},
          {"inputSchema",
           {{"type", "object"},
            {"properties", properties},
            {"required", required},
            {"additionalProperties", false}}},
          {"annotations", {{"readOnlyHint", true}, {"openWorldHint", false}}}};
}

Result<std::string> TargetOf(const McpTool& tool, const Json& arguments) {
  if (!arguments.is_object() && !arguments.is_null())
    return Invalid("arguments: must be an object");
  for (const auto& [name, value] : arguments.items()) {
    if (std::ranges::find(tool.arguments, name, &McpArgument::name) == tool.arguments.end()) {
      return Invalid(Format("{}: {} has no such argument", Printable(name, 60), tool.name));
    }
  }
  std::string path(tool.path), query;
  for (const McpArgument& argument : tool.arguments) {
    const auto found = arguments.is_object() ? arguments.find(argument.name) : arguments.end();
    const bool given = found != arguments.end();
    if (!given && argument.required) return Invalid(Format("{}: is wanted", argument.name));
    const Result<std::string> text =
        given ? TextOf(argument, *found) : Result<std::string>(std::string(argument.usual));
    if (!text) return text.error();
    if (!argument.required && (text->empty() || *text == argument.without)) continue;
    const std::string place = Format("{{{}}}", argument.name);
    const std::size_t at = path.find(place);
    if (at != std::string::npos)
      path.replace(at, place.size(), Encoded(*text));
    else
      query += Format("{}{}={}", query.empty() ? "?" : "&", argument.name, Encoded(*text));
  }
  return path + query;
}

OrderedJson Explained(const McpTool& tool, const Json& answer) {
  return {
      {"how_to_read",
       {{"observed", tool.observed}, {"derived", tool.derived}, {"unknown", UnknownOf(answer)}}},
      {"answer", OrderedJson(answer)}};
}

}  // namespace stepscope
