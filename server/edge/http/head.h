#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "server/edge/http/progress.h"

namespace stepscope {

enum class Framing { kNone, kLength, kChunked };
enum class Coding { kIdentity, kGzip };

// A request head, checked, with what it means decided. Headers that the edge itself acts on, that
// belong to one hop or that could pass for something else are no longer in it: see
// normalize_head.h.
struct Head {
  std::string method;  // a token, as sent
  std::string path;    // as sent, not decoded; begins with '/', or is "*" of OPTIONS
  std::string query;   // as sent, without '?'
  int minor_version = 1;
  std::map<std::string, std::string> headers;  // names in lower case; repeated ones joined by ", "

  Framing framing = Framing::kNone;
  std::uint64_t content_length = 0;  // for Framing::kLength
  Coding coding = Coding::kIdentity;
  bool keep_alive = true;
  bool expects_continue = false;

  std::size_t bytes = 0;  // size of the head on the wire
};

struct HeadLimits {
  std::size_t most_bytes = 16 * 1024;
  std::size_t most_target = 2 * 1024;
  std::size_t most_headers = 64;
};

// Reads one head of HTTP/1.0 or 1.1 from any pieces of its bytes, strictly: what two readers could
// understand in two ways is refused, at the byte that decides it. The outcome is the same however
// the bytes are cut. Holds at most the bytes of one head. For one thread.
class HeadReader {
 public:
  explicit HeadReader(HeadLimits limits = {}) : limits_(limits) {}

  // Takes a beginning of `bytes` and says how much. Bytes behind a complete head stay the caller's.
  Progress Feed(std::string_view bytes, std::size_t& consumed);

  bool started() const { return head_.bytes > 0; }
  Head& head() { return head_; }                       // complete after kDone
  const Refusal& refusal() const { return refusal_; }  // after kFault

 private:
  // The part that the next byte belongs to.
  enum class Part { kMethod, kBlankEnd, kTarget, kVersion, kName, kValue, kLineEnd, kHeadEnd };
  struct Shape;
  static const Shape& ShapeOf(Part part);

  std::size_t Step(std::string_view bytes);
  std::size_t Most() const;
  void End(char byte);
  std::string WhyNot(char byte) const;
  void EndPart();
  void EndMethod();
  void EndTarget();
  void EndVersion();
  void EndName();
  void EndValue();
  void EndHead();
  void Refuse(std::string_view code, std::string detail);

  HeadLimits limits_;
  Progress progress_ = Progress::kMore;
  Part part_ = Part::kMethod;
  std::string text_;  // the part, so far
  std::string name_;  // the header whose value is read
  std::size_t names_ = 0;
  bool blank_ = false;  // an empty line stood before the request line
  Head head_;
  Refusal refusal_;
};

}  // namespace stepscope
