#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/http/client.h"

namespace stepscope {

struct AnswerLimit {
  std::size_t bytes;  // of the body
  bool cut;           // take the beginning of a longer one; otherwise it is an error
};

// Reads one answer of HTTP/1.0 or 1.1 to a GET or POST, in pieces of any size; where they are cut
// changes nothing. Strict where two readers could find different ends. What is not body is bounded
// too, so nothing that a server sends makes it grow. Pure; for one thread.
class AnswerParser {
 public:
  enum class State { kMore, kDone, kCut, kTooLarge, kWrong };

  explicit AnswerParser(const AnswerLimit& most) : most_(most) {}

  State Feed(std::string_view bytes);

  // The other side closed, which ends an answer that gave no length; kMore: it was not whole.
  State End();

  // After kDone or kCut.
  HttpAnswer& answer() { return answer_; }

  // Nothing came behind the answer and the other side keeps the connection.
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
  std::string line_;            // of the present one, what came so far
  std::size_t line_bytes_ = 0;  // of all lines
  std::uint64_t left_ = 0;      // of the body, or of the present chunk
  bool chunked_ = false;
  bool reusable_ = false;
};

// Names of headers are the same whatever their case.
bool SameName(std::string_view a, std::string_view b);

}  // namespace stepscope
