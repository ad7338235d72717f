#pragma once

// The pictures of rules, by the data that they are drawn from; rule_pictures.cpp has the table of
// rules and pictures. Empty where nothing was measured.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "server/report/page/report.h"
#include "server/report/page/sections.h"
#include "server/report/picture/pictures.h"

namespace stepscope {

// rule_lines.cpp: metrics over time.
Markup GpuMemoryLines(const Report& report, const RuleSection& rule);
Markup MemoryLines(const Report& report, const RuleSection& rule);
Markup UploadLines(const Report& report, const RuleSection& rule);
Markup ThrottleLines(const Report& report, const RuleSection& rule);
Markup CustomLines(const Report& report, const RuleSection& rule);

// rule_steps.cpp: the steps of the rank whose median step is the longest; it stands for all.
Markup StepHistogram(const Report& report, const RuleSection& rule);
Markup StepLine(const Report& report, const RuleSection& rule);
// The steps up to the last sample, with the stalls.
Markup StallLine(const Report& report, const RuleSection& rule);
Markup LoadHistogram(const Report& report, const RuleSection& rule);

// Functions that the pictures share.
double ParameterOf(const RuleSection& rule, std::string_view name, double otherwise);
// The stretches in which the rule fired on the node, or on anything when `node` is "".
std::vector<Stretch> Fired(const RuleSection& rule, std::string_view node);
// The note "Shaded: where it fired.", or "" when the rule did not fire.
std::string FiredWords(const RuleSection& rule, std::string_view what = "where it fired");
// A note about devices that were left out of a picture.
Markup More(std::size_t all, std::size_t shown);

}  // namespace stepscope
