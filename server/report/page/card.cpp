#include "server/report/page/card.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/json_members.h"
#include "core/base/text.h"
#include "server/report/text/format.h"

namespace stepscope {
namespace {

constexpr std::size_t kColumns = 78, kBarCells = 24, kMostNamed = 6;
constexpr std::size_t kLongest = 400;  // bytes of a text from outside

struct Bar {
  std::string_view word, metric;
};
constexpr Bar kBars[] = {{"GPU", "gpu_util_percent"},
                         {"GPU memory", "gpu_memory_used_percent"},
                         {"CPU", "node_cpu_percent"},
                         {"Memory", "memory_used_percent"}};

// The text in lines, broken at blanks. The first begins with `head`, later ones with `indent`.
std::string Wrapped(std::string_view head, const std::string& text, std::string_view indent) {
  std::string lines(head);
  std::size_t column = head.size();
  bool first = true;  // word of a line
  for (const std::string_view word : Split(text, ' ')) {
    if (word.empty()) continue;
    if (!first && column + 1 + word.size() > kColumns) {
      lines += Format("\n{}", indent);
      column = indent.size();
    } else if (!first) {
      lines += ' ';
      ++column;
    }
    first = false;
    lines += word;
    column += word.size();
  }
  return lines + '\n';
}

std::string HeadOf(const Report& report) {
  const std::string state =
      Format("{}{}", ToText(report.job.status), report.running ? " (as of now)" : "");
  std::string head = Format("{}  {}, {}\n", Printable(report.job.name), state,
                            FormatDuration(report.times.Seconds()));
  std::string facts =
      Format("{} {}", report.nodes.size(), report.nodes.size() == 1 ? "node" : "nodes");
  if (const std::size_t gpus = report.Gpus(); gpus > 0) {
    facts += Format(", {} {}", gpus, gpus == 1 ? "GPU" : "GPUs");
    const auto named = std::ranges::find_if(
        report.nodes, [](const ReportNode& node) { return !node.gpu_name.empty(); });
    if (named != report.nodes.end()) facts += Format(" ({})", Printable(named->gpu_name, 60));
  }
  if (!report.job.group.empty()) facts += Format(", group {}", Printable(report.job.group, 63));
  return head + Wrapped("", Format("{}, from {}", facts, FormatTime(report.times.from_us)), "");
}

std::string BarOf(const Bar& bar, const UsageTable& usage) {
  double p50 = 0, p95 = 0;
  std::size_t nodes = 0;
  for (const UsageRow& row : usage.rows) {
    if (row.metric != bar.metric) continue;
    p50 += row.p50;
    p95 = std::max(p95, row.p95);
    ++nodes;
  }
  if (nodes == 0) return Format("{:<11} not measured\n", bar.word);
  p50 /= double(nodes);
  const double cells = std::clamp(p50, 0.0, 100.0) / 100 * double(kBarCells);
  const auto full = static_cast<std::size_t>(std::lround(cells));
  return Format("{:<11} [{}{}] half within {}, 95 % within {}\n", bar.word, std::string(full, '#'),
                std::string(kBarCells - full, '.'), FormatPercent(p50), FormatPercent(p95));
}

std::string StepsOf(const Report& report) {
  if (report.steps.empty() || report.steps.front().steps.count == 0) {
    return "Steps       none seen\n";
  }
  const RankSummary& first = report.steps.front();
  return Wrapped("Steps       ",
                 Format("{} of rank {}: half within {}, 95 % within {}, longest {}",
                        first.steps.count, first.of.rank, FormatDuration(first.steps.p50),
                        FormatDuration(first.steps.p95), FormatDuration(first.steps.max)),
                 "            ");
}

double NumberOf(const OrderedJson& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

// Time that nothing explains may be no loss.
std::string ShareOf(const OrderedJson& cause, bool first) {
  const std::string words = Printable(TextOf(cause, "words"), kLongest);
  const std::string share = FormatPercent(100 * NumberOf(cause, "share"));
  if (TextOf(cause, "cause") == "unknown") {
    return Wrapped("", Format("Nothing explains {} of the training's time.", share), "  ");
  }
  if (!first) return Wrapped("  Then ", Format("{} to {}.", share, words), "  ");
  return Wrapped("", Format("{} of the training's time was lost to {}.", share, words), "  ");
}

std::string CauseOf(const OrderedJson& cause, bool first) {
  std::string text = ShareOf(cause, first);
  const std::string advice = Printable(TextOf(cause, "advice"), kLongest);
  if (!advice.empty()) text += Wrapped("  Do: ", advice, "      ");
  if (const double gain = NumberOf(cause, "speed_up"); gain > 0) {
    text += Format("  Gain: up to {:.2f} times as fast.\n", gain);
  }
  return text;
}

// The verdict, at most two causes that are above the threshold, and what is not seen.
std::string VerdictOf(const OrderedJson& diagnosis) {
  std::string text;
  std::size_t named = 0;
  bool first = true;  // no cause that took time is told yet
  const double threshold = NumberOf(diagnosis, "threshold");
  for (const OrderedJson& cause : diagnosis.value("budget", OrderedJson::array())) {
    const bool lost = TextOf(cause, "cause") != "busy";
    if (!lost || 100 * NumberOf(cause, "share") <= threshold || named == 2) continue;
    text += CauseOf(cause, first);
    first = first && TextOf(cause, "cause") == "unknown";
    ++named;
  }
  if (named == 0) text += Wrapped("", Printable(TextOf(diagnosis, "sentence"), kLongest), "  ");
  const auto missing = diagnosis.find("missing");
  if (missing == diagnosis.end() || !missing->is_array()) return text;
  for (const OrderedJson& sentence : *missing) {
    if (sentence.is_string()) {
      text += Wrapped("Not seen: ", Printable(sentence.get<std::string>(), kLongest), "  ");
    }
  }
  return text;
}

std::string RulesOf(const Report& report) {
  std::vector<std::string> found;
  for (const RuleSection& rule : report.rules) {
    if (rule.status == RuleStatus::kIssuesFound) found.push_back(Printable(rule.name, 63));
  }
  if (found.empty()) return "";
  std::string names;
  for (std::size_t at = 0; at < std::min(found.size(), kMostNamed); ++at) {
    names += Format("{}{}", at == 0 ? "" : ", ", found[at]);
  }
  if (found.size() > kMostNamed) names += Format(" and {} more", found.size() - kMostNamed);
  return Wrapped("Rules that found issues: ", names + ".", "  ");
}

}  // namespace

std::string ToCard(const Report& report) {
  std::string card = HeadOf(report) + "\n";
  for (const Bar& bar : kBars) {
    const bool gpu = bar.metric.starts_with("gpu_");
    if (!gpu || report.Gpus() > 0) card += BarOf(bar, report.usage);
  }
  card += StepsOf(report) + "\n" + VerdictOf(report.diagnosis) + RulesOf(report) + "\n";
  card += Format("More: {}\n", Printable(report.url, kLongest));
  return card +
         Format("      stepscope-server report {} > report.html\n", Printable(report.job.name));
}

}  // namespace stepscope
