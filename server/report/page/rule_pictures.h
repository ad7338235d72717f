#pragma once

// The pictures that rules have, by what they are drawn from; rule_pictures.cpp says which belongs
// to which. Empty where nothing was measured.

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
// To the last sample, with the stalls.
Markup StallLine(const Report& report, const RuleSection& rule);
Markup LoadHistogram(const Report& report, const RuleSection& rule);

// What they have in common.
double ParameterOf(const RuleSection& rule, std::string_view name, double otherwise);
// When it fired on the node, or on anything when it is "".
std::vector<Stretch> Fired(const RuleSection& rule, std::string_view node);
// "Shaded: where it fired.", or "" when it did not.
std::string FiredWords(const RuleSection& rule, std::string_view what = "where it fired");
// What was left out of a picture.
Markup More(std::size_t all, std::size_t shown);

}  // namespace stepscope
