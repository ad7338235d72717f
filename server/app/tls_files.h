#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stepscope {

struct FileToWrite {
  std::string path;
  std::string_view text;
  bool secret = false;   // readable by its owner alone, from its first instant on
  bool replace = false;  // false: Conflict when the file is there
};

// Writes all of the text or nothing under that name, also when the machine stops in the middle.
Status WriteWhole(const FileToWrite& file);

// Reads at most 64 KiB. NotFound when there is no such file, Invalid when it is larger or not
// readable.
Result<std::string> ReadWhole(const std::string& path);

// Makes the folder and the folders above it.
Status MakeFolder(const std::string& path);

}  // namespace stepscope
