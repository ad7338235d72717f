#include "server/report/page/report_html.h"

#include "core/base/text.h"
#include "server/report/page/sections.h"
#include "server/report/text/format.h"

namespace stepscope {
namespace {

Markup Head(const Report& report) {
  return Element("head",
                 Element("meta", {{"charset", "utf-8"}}) +
                     Element("meta", {{"http-equiv", "Content-Security-Policy"},
                                      {"content", std::string(kReportPolicy)}}) +
                     Element("meta", {{"name", "viewport"},
                                      {"content", "width=device-width, initial-scale=1"}}) +
                     Element("meta", {{"name", "color-scheme"}, {"content", "light dark"}}) +
                     Element("title", report.job.name + " – report") + Style(ReportStyle()));
}

Markup Contents() {
  constexpr std::pair<std::string_view, std::string_view> kLinks[] = {
      {"#summary", "Summary"}, {"#usage", "System usage"},  {"#framework", "Framework"},
      {"#rules", "Rules"},     {"#each-rule", "Each rule"}, {"#diagnosis", "Diagnosis"},
      {"#method", "Method"}};
  Markup list;
  for (const auto& [href, word] : kLinks) {
    list += Element("li", Element("a", {{"href", std::string(href)}}, Text(word)));
  }
  return Element("nav", {{"aria-label", "Sections"}}, Element("ul", list));
}

}  // namespace

Markup Section(std::string_view id, std::string_view title, const Markup& inside) {
  const std::string title_id = std::string(id) + "-title";
  return Element("section", {{"id", std::string(id)}, {"aria-labelledby", title_id}},
                 Element("h2", {{"id", title_id}}, Text(title)) + inside);
}

std::string ToHtml(const Report& report) {
  const Markup main = Element("main", HeadSection(report) + Contents() + UsageSection(report) +
                                          FrameworkSection(report) + RulesSection(report) +
                                          DiagnosisSection(report) + MethodSection(report));
  const Markup foot =
      Element("footer",
              Text(Format("Made by Stepscope {}. All times are UTC. What it says are measurements "
                          "and estimates, not guarantees.",
                          report.version)));
  const Markup page =
      Element("html", {{"lang", "en"}}, Head(report) + Element("body", main + foot));
  return "<!DOCTYPE html>\n" + page.text() + "\n";
}

}  // namespace stepscope
