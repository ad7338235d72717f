#include "bench/peer_bodies.h"

#include "core/base/text.h"

namespace stepscope {
namespace {

template <typename Item>
std::string Joined(std::size_t count, Item item) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += ',';
    text += Format("{}", item(i));
  }
  return text;
}

}  // namespace

std::string ImportLines(const Schema& schema, const Table& ticks, const std::string& job,
                        const std::string& node) {
  const Column& at_us = ticks.columns[0];
  const std::string times =
      Joined(ticks.rows, [&](std::size_t i) { return at_us.values[i] / 1000; });
  std::string lines;
  for (std::size_t index = 1; index < schema.columns.size(); ++index) {
    const auto& [metric, device] = schema.columns[index];
    const Column& column = ticks.columns[index];
    const std::string values = Joined(ticks.rows, [&](std::size_t i) { return column.At(i); });
    lines += Format(R"({{"metric":{{"__name__":"{}","job":"{}","node":"{}","device":"{}"}},)",
                    metric, job, node, device);
    lines += Format(R"("values":[{}],"timestamps":[{}]}})", values, times) + "\n";
  }
  return lines;
}

}  // namespace stepscope
