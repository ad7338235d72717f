#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace stepscope {

// An empty folder of a test's own, in $TMPDIR or /tmp; it goes with what is in it.
class TempFolder {
 public:
  TempFolder()
      : path_(std::filesystem::canonical(std::filesystem::temp_directory_path()) /
              "stepscope-test-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~TempFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace stepscope
