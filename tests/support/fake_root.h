#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace stepscope::test {

// A folder that replaces the root of a node: /proc and /sys with the files that the test writes.
class FakeRoot {
 public:
  FakeRoot() {
    char name[] = "/tmp/stepscope-root-XXXXXX";
    if (mkdtemp(name) == nullptr) std::abort();
    path_ = name;
  }
  ~FakeRoot() { std::filesystem::remove_all(path_); }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  const std::string& path() const { return path_; }

  // Writes into the existing file, as the kernel does: an open descriptor sees the change.
  void Write(const std::string& name, std::string_view text) const {
    const std::filesystem::path file = path_ + name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
  }
  void MakeFolder(const std::string& name) const {
    std::filesystem::create_directories(path_ + name);
  }

 private:
  std::string path_;
};

}  // namespace stepscope::test
