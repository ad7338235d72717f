#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/support/temp_folder.h"

namespace stepscope::test {

// A folder that replaces the root of a node: /proc and /sys with the files that the test writes.
class FakeRoot {
 public:
  const std::string& path() const { return folder_.path(); }

  // Writes into the existing file, as the kernel does: an open descriptor sees the change.
  void Write(const std::string& name, std::string_view text) const {
    const std::filesystem::path file = path() + name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
  }
  void MakeFolder(const std::string& name) const {
    std::filesystem::create_directories(path() + name);
  }

 private:
  const TempFolder folder_;
};

}  // namespace stepscope::test
