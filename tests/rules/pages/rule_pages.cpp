// rule_pages FOLDER: writes the pages of all rules there.

#include <filesystem>
#include <fstream>
#include <iostream>

#include "tests/rules/pages/pages.h"

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: rule_pages FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder(arguments[1]);
  std::filesystem::create_directories(folder);
  for (const auto& [name, content] : stepscope::scenarios::RulePages()) {
    std::ofstream file(folder / name, std::ios::binary);
    file << content;
    if (!file.flush()) {
      std::cerr << "cannot write " << (folder / name) << "\n";
      return 1;
    }
  }
  return 0;
}
