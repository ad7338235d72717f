#pragma once

#include <string>
#include <vector>

#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {

// A line of a picture: a series of the first node, divided by `divisor`.
struct Drawn {
  SeriesName series;
  std::string label;
  double divisor = 1;
};

// A row of a picture. Without lines it shows the steps of `rank`, with `phase` set off.
struct Panel {
  std::string title;  // with its unit
  std::vector<Drawn> lines = {};
  std::optional<double> threshold = {};
  int rank = 0;
  Phase phase = Phase::kOther;
};

// A job in which a rule fires (or that it reports on, for a rule that never fires), and the rows of
// its picture.
struct Footprint {
  std::string rule;
  Job job;
  std::vector<Panel> panels;
  Json parameters = Json::object();
};

// The footprints of rules that are judged from samples, and from steps.
std::vector<Footprint> HostFootprints();
std::vector<Footprint> StepFootprints();

}  // namespace stepscope::scenarios
