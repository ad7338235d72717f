#pragma once

// The sections of a report's page, one file each, in their order.

#include "server/report/page/report.h"
#include "server/report/text/markup.h"

namespace stepscope {

Markup HeadSection(const Report& report);  // who, when, what was measured: the job summary
Markup UsageSection(const Report& report);
Markup FrameworkSection(const Report& report);
Markup RulesSection(const Report& report);  // the table of all rules, and a section for each
Markup DiagnosisSection(const Report& report);
Markup MethodSection(const Report& report);

// Pieces of the sections.

// A section with a title that links may lead to.
Markup Section(std::string_view id, std::string_view title, const Markup& inside);
Markup RuleBlock(const Report& report, const RuleSection& rule);
// The picture of a rule: box plots, histograms, lines, shares. Empty where nothing was measured.
Markup RulePicture(const Report& report, const RuleSection& rule);
// The numbers of a verdict: single ones as a list, rows of devices, ranks or nodes as tables;
// folded unless `open`.
Markup EvidenceBlock(const OrderedJson& evidence, bool open);
// A status or a severity as a word on its colour.
Markup Chip(std::string_view word);
// The link to a rule's section: "#rule-3".
std::string RuleAnchor(const Report& report, const RuleSection& rule);
// The CSS classes of a phase; neighbours in a step differ by colour or by stripes.
std::string PhaseCss(std::string_view phase);

// The style sheet of the page.
std::string_view ReportStyle();

}  // namespace stepscope
