// Thousands of spoilt trace files: STEPSCOPE_TRACE_MUTANTS says how many (500), and the real traces
// are spoilt where they are.

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "tests/support/gzipped.h"
#include "tests/support/trace/made_trace.h"

namespace stepscope {
namespace {

std::string Seed() {
  std::vector<MadeEvent> events = {{"user_annotation", "ProfilerStep#7", "1", "1", 0, 400}};
  for (int i = 0; i < 60; ++i) {
    events.push_back({"cpu_op", Format("aten::op{}", i % 7), "1", "1", i * 6.0, 5,
                      Format("\"External id\": {}, \"Input Dims\": [[{}, 3]]", i, i)});
    events.push_back({"cuda_runtime", "cudaLaunchKernel", "1", "1", i * 6.0 + 1, 2,
                      Format("\"correlation\": {}", i)});
    events.push_back({"kernel", Format("void kernel<{}>(float)", i % 5), "0", "7", i * 6.0 + 90, 4,
                      Format("\"correlation\": {}, \"device\": 0, \"grid\": [1, 2, 3]", i)});
  }
  return TraceText(events, "\"baseTimeNanoseconds\": 1790857026000000000");
}

// Changes, removes, repeats and inserts bytes, here and there.
std::string Spoilt(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t most) { return most == 0 ? 0 : random() % most; };
  for (int times = 1 + int(below(4)); times > 0 && !text.empty(); --times) {
    const std::size_t at = below(text.size());
    const std::size_t length = std::min(text.size() - at, 1 + below(40));
    switch (below(6)) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      case 3:
        text.resize(at);
        break;
      case 4:
        text.insert(at, 1, "\"\\{}[],:"[below(8)]);
        break;
      default:
        text.insert(at, "NaN");
    }
  }
  return text;
}

int Mutants() {
  const char* const given = std::getenv("STEPSCOPE_TRACE_MUTANTS");
  return given ? std::atoi(given) : 500;
}

void Check(const std::string& text) {
  const Trace trace = Converted(text, {.spans = 200'000});
  for (const TraceSpan& span : trace.spans) {
    ASSERT_LT(span.name, trace.names.size());
    ASSERT_LT(span.detail, trace.details.size());
    ASSERT_LT(span.track, trace.tracks.size());
    ASSERT_GE(span.duration_ns, 0);
  }
}

TEST(Mutants, OfAMadeTraceAreReadAsFarAsTheyGo) {
  const std::string seed = Seed(), packed = Gzipped(seed);
  std::mt19937 random(11);
  std::size_t spans = 0;
  for (int i = 0; i < Mutants(); ++i) {
    const std::string mutant = Spoilt(seed, random);
    Check(mutant);
    spans += Converted(mutant).spans.size();
    if (i % 4 == 0) Check(Spoilt(packed, random));
  }
  EXPECT_GT(spans, std::size_t(Mutants()) * 100) << "most of a file survives a spoilt byte";
}

TEST(Mutants, OfRealTracesAreReadAsFarAsTheyGo) {
  const auto file = RealTraces("torch-cpu") / "torch2.6-cpu-ddp-gloo-rank0.pt.trace.json.gz";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "there are no real traces here";
  const std::string packed = FileText(file);
  std::mt19937 random(12);
  for (int i = 0; i < Mutants() / 10; ++i) Check(Spoilt(packed, random));
}

}  // namespace
}  // namespace stepscope
