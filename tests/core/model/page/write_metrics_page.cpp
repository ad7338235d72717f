// metrics_page FILE: writes the page of all metrics there.

#include <fstream>
#include <iostream>

#include "tests/core/model/page/metrics_page.h"

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: metrics_page FILE\n";
    return 2;
  }
  std::ofstream file(arguments[1], std::ios::binary);
  file << stepscope::MetricsPage();
  if (file.flush()) return 0;
  std::cerr << "cannot write " << arguments[1] << "\n";
  return 1;
}
