#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "server/edge/body_shares.h"
#include "server/edge/http/message.h"

namespace stepscope {

// A part of a large body, in a file without a name: it is gone with the last who holds it, also
// after kill -9. One thread appends; then any may read.
class BodyFile {
 public:
  // `shares` bounds all such files together, and those of whom it is. A folder that cannot be used
  // is replaced by the one for temporary files; Unavailable when there is none, or `folder` is "".
  static Result<std::shared_ptr<BodyFile>> Make(const std::string& folder,
                                                std::shared_ptr<BodyShares> shares,
                                                std::string whose = "");
  ~BodyFile();
  BodyFile(const BodyFile&) = delete;
  BodyFile& operator=(const BodyFile&) = delete;

  // Waits for the disk. Unavailable when the share or the disk is used up; a GiB of the disk stays
  // free for others.
  Status Append(std::string_view bytes);

  std::uint64_t bytes() const { return bytes_; }
  // The bytes from there on, as many as fit; 0 at the end, and where they cannot be read.
  std::size_t Read(std::uint64_t at, std::span<char> into) const;

 private:
  BodyFile(Descriptor file, std::shared_ptr<BodyShares> shares, std::string whose)
      : file_(std::move(file)), shares_(std::move(shares)), whose_(std::move(whose)) {}

  Descriptor file_;
  const std::shared_ptr<BodyShares> shares_;
  const std::string whose_;
  std::uint64_t taken_ = 0;  // bytes that count against the share
  std::uint64_t bytes_ = 0;
};

// Bytes of a request's body, wherever they are.
std::uint64_t BodySize(const Request& request);
// Gives them from first to last, piece by piece; 0 at the end. The request outlives it.
std::function<std::size_t(std::span<char>)> ReadBody(const Request& request);

}  // namespace stepscope
