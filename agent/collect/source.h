#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace stepscope {

// One file of the kernel, kept open and read from its start each time. `root` is put in front of
// its path, so that tests can provide a node of their own. For one thread.
class Source {
 public:
  // NotFound or Unavailable names the file.
  static Result<Source> Open(const std::string& root, const std::string& path);

  // Reads the whole text, valid until the next Read. At most 16 MiB.
  Result<std::string_view> Read();

 private:
  Source(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  Result<std::string_view> ReadLong(std::size_t size);
  // Reads once; 0 at the end.
  Result<std::size_t> ReadAt(std::size_t offset, std::span<char> into) const;

  Descriptor file_;
  std::string path_;
  std::string buffer_;
};

}  // namespace stepscope
