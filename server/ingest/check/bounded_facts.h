#pragma once

#include <cstddef>

#include "core/base/json.h"

namespace stepscope {

// What agents tell of nodes and ranks is kept for as long as the job, and shown with it: so much of
// each is kept. Honest agents tell less.
inline constexpr std::size_t kMostNodeFacts = 16 * 1024,
                             kMostRankFacts = 4 * 1024;                         // bytes of JSON
inline constexpr std::size_t kMostFacts = 64;                                   // values
inline constexpr std::size_t kMostCommand = 8 * 1024, kMostOutput = 16 * 1024;  // bytes

// Keeps the smallest values of an object, as many as fit into so many bytes; "left_out" says how
// many others there were.
void BoundFacts(Json& facts, std::size_t most_bytes);

// Keeps the first texts of a list, or the last ones, as many as fit; the one at the edge is cut.
void KeepFirstTexts(Json& texts, std::size_t most_bytes);
void KeepLastTexts(Json& texts, std::size_t most_bytes);

}  // namespace stepscope
