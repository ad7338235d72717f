#pragma once

// The results of the edge's parsers for pieces of bytes, as text that can be compared. Shared by
// the tests and the fuzz targets.

#include "core/base/text.h"
#include "server/edge/http/body.h"
#include "server/edge/http/head.h"
#include "tests/support/cuts.h"

namespace stepscope {

// Feeds pieces until the reader wants no more. Returns how many bytes it took.
template <typename Reader>
std::size_t FeedAll(Reader& reader, const Pieces& pieces, Progress& progress) {
  std::size_t total = 0;
  for (const std::string_view piece : pieces) {
    std::size_t consumed = 0;
    progress = reader.Feed(piece, consumed);
    total += consumed;
    if (progress != Progress::kMore) break;
    if (consumed != piece.size()) return ~std::size_t{0};  // must not leave bytes and want more
  }
  return total;
}

inline std::string ToText(const Head& head) {
  std::string text = Format("{} {} ? {} 1.{} framing {} length {} coding {} keep {} continue {}\n",
                            head.method, head.path, head.query, head.minor_version,
                            static_cast<int>(head.framing), head.content_length,
                            static_cast<int>(head.coding), head.keep_alive, head.expects_continue);
  for (const auto& [name, value] : head.headers) text += Format("{}: {}\n", name, value);
  return text;
}

inline std::string ToText(const Refusal& refusal) {
  return Format("refused {}: {}", refusal.code, refusal.detail);
}

inline std::string HeadOutcome(const Pieces& pieces, const HeadLimits& limits = {}) {
  HeadReader reader(limits);
  Progress progress = Progress::kMore;
  const std::size_t bytes = FeedAll(reader, pieces, progress);
  if (progress == Progress::kMore) return Format("more after {}", bytes);
  if (progress == Progress::kFault) return Format("{} after {}", ToText(reader.refusal()), bytes);
  return Format("{}{} bytes, {} in the head", ToText(reader.head()), bytes, reader.head().bytes);
}

// A refusal of compressed data names no byte: only the refusal and its reason are compared.
inline std::string BodyOutcome(const Head& head, const BodyLimits& limits, const Pieces& pieces) {
  BodyReader reader(head, limits);
  Progress progress = reader.progress();
  const std::size_t bytes =
      progress == Progress::kMore ? FeedAll(reader, pieces, progress) : std::size_t{0};
  if (progress == Progress::kMore) return Format("more after {}", bytes);
  if (progress == Progress::kFault) return ToText(reader.refusal());
  return Format("{} bytes: {}", bytes, reader.Take());
}

}  // namespace stepscope
