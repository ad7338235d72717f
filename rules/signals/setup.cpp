#include "rules/signals/setup.h"

#include <optional>
#include <set>

#include "core/base/text.h"
#include "rules/engine/sentence.h"

namespace stepscope {

std::string SetupOf(const JobFacts& facts) {
  if (facts.ranks.empty()) return "";
  std::set<std::string> models;
  int cores = 0;
  for (const NodeFacts& node : facts.nodes) {
    cores += node.Usable();
    if (!node.gpu_model.empty()) models.insert(node.gpu_model);
  }
  std::string text = CountText(std::ssize(facts.ranks), "rank");
  if (facts.nodes.size() > 1) text += Format(" on {} nodes", facts.nodes.size());
  if (facts.Gpus() > 0) text += ", " + CountText(static_cast<std::int64_t>(facts.Gpus()), "GPU");
  const char* before = " (";
  for (const std::string& model : models) text += std::exchange(before, ", ") + model;
  if (!models.empty()) text += ")";
  if (cores > 0) text += ", " + CountText(cores, "core");
  std::set<std::int64_t> batches;
  for (const RankFacts& rank : facts.ranks) {
    if (rank.batch_size) batches.insert(*rank.batch_size);
  }
  const char* between = ", batches of ";
  for (const std::int64_t batch : batches) {
    text += Format("{}{}", std::exchange(between, " and "), batch);
  }
  return text;
}

}  // namespace stepscope
