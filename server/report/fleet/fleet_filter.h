#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "server/report/fleet/fleet_sums.h"
#include "server/store/jobs/scope_patterns.h"

namespace stepscope {

// Which jobs count: places of texts are compared, not texts. A text that no job has is nowhere.
struct FleetFilter {
  const FleetQuestion& question;
  std::optional<std::uint32_t> user, account, group, gpu, node;
  bool none = false;

  FleetFilter(const FleetJobs& jobs, const FleetQuestion& of) : question(of) {
    const auto place = [&](const std::optional<std::string>& text,
                           std::optional<std::uint32_t>& at) {
      if (!text) return;
      const auto found = jobs.places.find(*text);
      if (found == jobs.places.end()) none = true;
      if (found != jobs.places.end()) at = found->second;
    };
    place(of.user, user);
    place(of.account, account);
    place(of.group, group);
    place(of.gpu, gpu);
    place(of.node, node);
  }
  bool Has(const FleetJob& job) const {
    const auto fits = [](const std::optional<std::uint32_t>& wanted, std::uint32_t is) {
      return !wanted || *wanted == is;
    };
    return !none && fits(user, job.user) && fits(account, job.account) && fits(group, job.group) &&
           fits(gpu, job.gpu) && (!question.cause || FirstCauseOf(job) == question.cause) &&
           (question.scopes.empty() || IsWithin(question.scopes, job.name));
  }
  // The part of the job's GPUs that counts, 0 to 1.
  double PartOf(const FleetJob& job) const {
    if (!node) return 1;
    const auto found = std::ranges::find(job.nodes, *node, &FleetNode::name);
    return found == job.nodes.end() ? 0 : static_cast<double>(found->part);
  }
};

}  // namespace stepscope
