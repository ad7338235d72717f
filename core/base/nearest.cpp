#include "core/base/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostCompared = 64;  // bytes that are compared: the work is their product

std::string Lower(std::string_view text) {
  std::string lower(text.substr(0, kMostCompared));
  for (char& each : lower) {
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
  }
  return lower;
}

}  // namespace

std::size_t EditsBetween(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}

std::vector<std::string_view> NearestWords(std::span<const std::string_view> known,
                                           std::string_view word, std::size_t most) {
  const std::string wanted = Lower(word);
  const std::size_t farthest = std::max<std::size_t>(wanted.size() / 3, 1);
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const std::string_view each : known) {
    const std::string lower = Lower(each);
    const bool holds = wanted.size() >= 3 && lower.find(wanted) != std::string::npos;
    const std::size_t edits = holds ? 0 : EditsBetween(wanted, lower);
    if (holds || edits <= farthest) near.emplace_back(edits, each);
  }
  std::ranges::stable_sort(near, {}, &std::pair<std::size_t, std::string_view>::first);
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < std::min(most, near.size()); ++i) words.push_back(near[i].second);
  return words;
}

std::string DidYouMean(std::span<const std::string_view> words) {
  if (words.empty()) return "";
  std::string text(words[0]);
  for (std::size_t i = 1; i < words.size(); ++i) {
    text += Format("{} {}", i + 1 < words.size() ? "," : " or", words[i]);
  }
  return Format("; did you mean {}?", text);
}

}  // namespace stepscope
