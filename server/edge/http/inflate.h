#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "server/edge/http/progress.h"

struct z_stream_s;

namespace stepscope {

// The bounds of unpacked bytes: at most `most_bytes`, and beyond the first `free_bytes` at most
// `most_ratio` times the packed ones.
struct InflateLimits {
  std::uint64_t most_bytes = 16 * 1024 * 1024;
  std::uint64_t most_ratio = 100;
  std::uint64_t free_bytes = 64 * 1024;
};

// Unpacks one gzip member (RFC 1952) from any pieces of its bytes. Whatever the packed bytes
// claim, at most `most_bytes` come out, and at most a mebibyte more than the ratio allows. Bytes
// behind the member are refused. Beside its output it holds 40 KiB.
class Inflater {
 public:
  explicit Inflater(InflateLimits limits = {});
  ~Inflater();
  Inflater(Inflater&&) noexcept;
  Inflater& operator=(Inflater&&) noexcept;

  // Takes all bytes and appends what they unpack to. kDone when the member is complete.
  Progress Feed(std::string_view bytes, std::string& to);

  const Refusal& refusal() const { return refusal_; }  // after kFault

 private:
  struct End {
    void operator()(z_stream_s* stream) const;
  };

  void Unpack(std::string_view bytes, std::string& to);
  int UnpackSome(std::string& to);
  void CheckRatio();
  void Refuse(std::string_view code, std::string detail);

  InflateLimits limits_;
  std::unique_ptr<z_stream_s, End> stream_;
  std::uint64_t packed_bytes_ = 0, plain_bytes_ = 0;
  Progress progress_ = Progress::kMore;
  Refusal refusal_;
};

}  // namespace stepscope
