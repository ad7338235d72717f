#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/http/client.h"

namespace stepscope {

struct AnswerLimit {
  std::size_t bytes;  // bound of the body
  bool cut;           // truncate a longer body; otherwise it is an error
};

// Parses one HTTP/1.0 or 1.1 answer to a GET or POST, in pieces of any size; where they are cut
// changes nothing. Strict where two parsers could find different ends. Head and trailers are
// bounded too, so nothing that a server sends makes it grow. Pure; for one thread.
class AnswerParser {
 public:
  enum class State { kMore, kDone, kCut, kTooLarge, kWrong };

  explicit AnswerParser(const AnswerLimit& most) : most_(most) {}

  State Feed(std::string_view bytes);

  // The peer closed the connection, which ends an answer without a length; kMore: the answer is
  // incomplete.
  State End();

  // Valid after kDone or kCut.
  HttpAnswer& answer() { return answer_; }

  // True when nothing came behind the answer and the peer keeps the connection open.
  bool reusable() const { return reusable_; }

 private:
  enum class Part { kStatus, kHeader, kBody, kChunkSize, kChunkEnd, kTrailer };
  static constexpr std::uint64_t kToTheEnd = UINT64_MAX;

  std::size_t TakeLine(std::string_view bytes);
  std::size_t TakeBody(std::string_view bytes);
  void ReadLine(std::string_view line);
  bool ReadStatus(std::string_view line);
  bool ReadHeader(std::string_view line);
  bool ReadChunkSize(std::string_view line);
  bool EndHead();
  bool ReadLength();
  void BeginBody(std::uint64_t bytes);

  const AnswerLimit most_;
  State state_ = State::kMore;
  Part part_ = Part::kStatus;
  HttpAnswer answer_;
  std::string line_;            // the part of the current line that has arrived
  std::size_t line_bytes_ = 0;  // bytes of all lines
  std::uint64_t left_ = 0;      // bytes left of the body, or of the current chunk
  bool chunked_ = false;
  bool reusable_ = false;
};

// Compares header names, whose case does not matter.
bool SameName(std::string_view a, std::string_view b);

}  // namespace stepscope
