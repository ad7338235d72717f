#pragma once

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text.h"
#include "core/trace/convert.h"

namespace stepscope {

// Trace files for tests, and what becomes of them.

// An event as Kineto writes it; times in microseconds.
struct MadeEvent {
  std::string category, name, process = "100", thread = "100";
  double start = 0, duration = 0;
  std::string args = {};  // "\"correlation\": 7"
};

inline std::string ToText(const MadeEvent& event) {
  return Format(
      "  {{\n    \"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, \"tid\": {},\n"
      "    \"ts\": {:.3f}, \"dur\": {:.3f},\n    \"args\": {{\n      {}\n    }}\n  }}",
      event.category, event.name, event.process, event.thread, event.start, event.duration,
      event.args);
}

inline std::string TraceText(const std::vector<std::string>& events,
                             std::string_view members = "\"schemaVersion\": 1") {
  std::string text = Format("\n{{\n  {},\n  \"traceEvents\": [\n", members);
  for (std::size_t i = 0; i < events.size(); ++i) text += (i == 0 ? "" : ",\n") + events[i];
  return text + "\n  ],\n  \"traceName\": \"/tmp/t.json\"\n}";
}

inline std::string TraceText(const std::vector<MadeEvent>& events,
                             std::string_view members = "\"schemaVersion\": 1") {
  std::vector<std::string> texts;
  for (const MadeEvent& event : events) texts.push_back(ToText(event));
  return TraceText(texts, members);
}

// Given in pieces of `piece` bytes.
inline Trace Converted(std::string_view text, const TraceLimits& limits = {},
                       std::size_t piece = std::size_t{1} << 20) {
  return ConvertTrace(
      [&](std::span<char> into) {
        const std::size_t size = std::min({into.size(), text.size(), piece});
        std::memcpy(into.data(), text.data(), size);
        text.remove_prefix(size);
        return size;
      },
      limits);
}

inline Trace Converted(const std::vector<MadeEvent>& events) {
  return Converted(TraceText(events));
}

inline std::string FileText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A folder of real traces beside the source, which the project does not contain; tests that need
// one are skipped where it is absent.
inline std::filesystem::path RealTraces(std::string_view folder) {
  const auto beside = std::filesystem::path(STEPSCOPE_SOURCE_DIR).parent_path();
  return beside / "shared" / "data" / folder;
}

}  // namespace stepscope
