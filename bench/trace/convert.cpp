// Reads trace files into spans, as the service does: CPU seconds, megabytes of JSON, spans, most
// memory. Usage: trace_convert [--answers] FILE...

#include <sys/resource.h>

#include <cstdio>
#include <cstring>
#include <fstream>

#include "core/trace/convert.h"
#include "server/trace/answers/answers.h"

namespace stepscope {
namespace {

double CpuNow() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

long MostMemoryKilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

void Measure(const char* path, bool answers) {
  std::ifstream file(path, std::ios::binary);
  const double began = CpuNow();
  const Trace trace = ConvertTrace([&](std::span<char> into) {
    file.read(into.data(), static_cast<std::streamsize>(into.size()));
    return static_cast<std::size_t>(file.gcount());
  });
  const double read = CpuNow();
  const long memory = MostMemoryKilobytes();
  std::size_t stored = 0;
  if (answers) {
    for (const TracePart& part : TakeApart(trace)) stored += part.payload.size();
  }
  std::printf(
      "{\"json_bytes\": %llu, \"spans\": %zu, \"cpu_seconds\": %.4f, \"memory_kb\": %ld, "
      "\"answer_cpu_seconds\": %.4f, \"stored_bytes\": %zu}\n",
      static_cast<unsigned long long>(trace.bytes), trace.spans.size(), read - began, memory,
      CpuNow() - read, stored);
}

}  // namespace
}  // namespace stepscope

int main(int count, char** words) {
  const bool answers = count > 1 && std::strcmp(words[1], "--answers") == 0;
  for (int i = answers ? 2 : 1; i < count; ++i) stepscope::Measure(words[i], answers);
}
