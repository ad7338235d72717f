#pragma once

// What somebody meant who wrote a word that nobody knows.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

// The edits (insert, delete, replace a byte) from one word to the other.
std::size_t EditsBetween(std::string_view a, std::string_view b);

// The known words that are most like this one, at most `most`: those that hold it, then those that
// a third of its letters changed would make; the case of letters does not count.
std::vector<std::string_view> NearestWords(std::span<const std::string_view> known,
                                           std::string_view word, std::size_t most = 3);

// "; did you mean a, b or c?" of these words; "" without any.
std::string DidYouMean(std::span<const std::string_view> words);

}  // namespace stepscope
