#include "server/ingest/check/bounded_facts.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr char kLeftOut[] = "left_out";
constexpr std::size_t kAroundValue = 4;  // quotes, colon and comma of JSON

std::size_t BytesOf(const Json& value) {
  return Dump(value).size();
}

// So many of the texts, from the front, fit; `cut` is what is left for the next one.
template <typename Iterator>
std::size_t Fitting(Iterator from, Iterator to, std::size_t most_bytes, std::size_t& cut) {
  std::size_t count = 0;
  for (; from != to; ++from, ++count) {
    const std::size_t bytes = BytesOf(*from) + 1;
    if (bytes > most_bytes) break;
    most_bytes -= bytes;
  }
  cut = most_bytes;
  return count;
}

// A text that takes no more than so many bytes as JSON, whatever is escaped in it.
std::string Cut(const Json& text, std::size_t most_bytes) {
  std::string kept = ValidUtf8(text.get_ref<const std::string&>().substr(0, most_bytes));
  while (!kept.empty() && BytesOf(kept) > most_bytes)
    kept = ValidUtf8(kept.substr(0, kept.size() / 2));
  return kept;
}

}  // namespace

void BoundFacts(Json& facts, std::size_t most_bytes) {
  if (facts.size() <= kMostFacts && BytesOf(facts) <= most_bytes) return;
  struct Sized {
    std::size_t bytes;
    std::string name;
  };
  std::vector<Sized> members;
  for (const auto& [name, value] : facts.items()) {
    members.push_back({BytesOf(Json(name)) + BytesOf(value) + kAroundValue, name});
  }
  std::ranges::stable_sort(members, {}, &Sized::bytes);
  std::size_t left = most_bytes - std::min<std::size_t>(most_bytes, 32);  // for what is left out
  Json kept = Json::object();
  for (const Sized& member : members) {
    if (kept.size() + 1 >= kMostFacts || member.bytes > left) break;
    left -= member.bytes;
    kept[member.name] = std::move(facts[member.name]);
  }
  kept[kLeftOut] = members.size() - kept.size();
  facts = std::move(kept);
}

void KeepFirstTexts(Json& texts, std::size_t most_bytes) {
  if (!texts.is_array()) return;
  std::size_t cut = 0;
  const std::size_t fits = Fitting(texts.begin(), texts.end(), most_bytes, cut);
  if (fits == texts.size()) return;
  Json kept = Json::array();
  for (std::size_t i = 0; i < fits; ++i) kept.push_back(std::move(texts[i]));
  if (std::string edge = Cut(texts[fits], cut); !edge.empty()) kept.push_back(std::move(edge));
  texts = std::move(kept);
}

void KeepLastTexts(Json& texts, std::size_t most_bytes) {
  if (!texts.is_array()) return;
  std::size_t cut = 0;
  const std::size_t fits = Fitting(texts.rbegin(), texts.rend(), most_bytes, cut);
  const std::size_t first = texts.size() - fits;
  if (first == 0) return;
  Json kept = Json::array();
  if (std::string edge = Cut(texts[first - 1], cut); !edge.empty()) kept.push_back(std::move(edge));
  for (std::size_t i = first; i < texts.size(); ++i) kept.push_back(std::move(texts[i]));
  texts = std::move(kept);
}

}  // namespace stepscope
