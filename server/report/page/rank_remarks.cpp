#include "server/report/page/rank_remarks.h"

#include <algorithm>
#include <map>

#include "core/base/json_members.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostRanksNamed = 8;  // in a sentence

std::vector<std::string> RemarksOf(const Json& facts) {
  std::vector<std::string> remarks;
  if (std::string second = TextOf(facts, "second_process"); !second.empty()) {
    remarks.push_back(std::move(second));
  }
  if (TextOf(facts, "loader_thread") == "another") {
    remarks.push_back("another thread reads the batches, so waits for data are not seen");
  }
  const std::string clock = TextOf(facts, "gpu_clock");
  if (TextOf(facts, "device_type") == "cpu") {
    remarks.push_back("computes on the CPU");
  } else if (!clock.empty()) {
    remarks.push_back("the GPU's own clock: " + clock);
  }
  return remarks;
}

std::string Named(const std::vector<std::int32_t>& ranks) {
  std::string text = ranks.size() == 1 ? "Rank" : "Ranks";
  for (std::size_t i = 0; i < std::min(ranks.size(), kMostRanksNamed); ++i) {
    text += Format("{}{}", i == 0 ? " " : ", ", ranks[i]);
  }
  if (ranks.size() > kMostRanksNamed)
    text += Format(" and {} more", ranks.size() - kMostRanksNamed);
  return text;
}

}  // namespace

void RankRemarks::Add(std::span<const RankRow> ranks) {
  for (const RankRow& rank : ranks) {
    for (const std::string& words : RemarksOf(rank.facts)) {
      if (!by_words_.contains(words)) {
        if (order_.size() == kMost) continue;
        order_.push_back(words);
      }
      by_words_[words].push_back(static_cast<std::int32_t>(rank.rank));
    }
  }
}

std::vector<std::string> RankRemarks::Sentences() const {
  std::vector<std::string> sentences;
  for (const std::string& words : order_) {
    sentences.push_back(Format("{}: {}.", Named(by_words_.at(words)), words));
  }
  return sentences;
}

}  // namespace stepscope
