#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stepscope {

struct FileToWrite {
  std::string path;
  std::string_view text;
  bool secret = false;   // for the owner's eyes alone, from its first instant on
  bool replace = false;  // otherwise Conflict when it is there
};

// All of the text or nothing under that name, also when the machine stops in the middle.
Status WriteWhole(const FileToWrite& file);

// At most 64 KiB. NotFound when there is no such file, Invalid when it is larger or not readable.
Result<std::string> ReadWhole(const std::string& path);

// Makes the folder and those above it.
Status MakeFolder(const std::string& path);

}  // namespace stepscope
