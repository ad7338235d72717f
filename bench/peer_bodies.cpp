#include "bench/peer_bodies.h"

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include "core/base/text.h"
#include "core/wire/bytes.h"

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

namespace {

// The kinds of fields in protobuf.
constexpr std::uint8_t kVarint = 0, kDouble = 1, kBytes = 2;

void PutTag(std::string& message, std::uint8_t field, std::uint8_t kind) {
  Put(message, static_cast<std::uint8_t>(field << 3 | kind));
}

void PutBytes(std::string& message, std::uint8_t field, std::string_view bytes) {
  PutTag(message, field, kBytes);
  PutText(message, bytes);
}

void PutLabel(std::string& series, std::string_view name, std::string_view value) {
  std::string label;
  PutBytes(label, 1, name);
  PutBytes(label, 2, value);
  PutBytes(series, 1, label);
}

void PutSample(std::string& series, double value, std::int64_t at_us) {
  std::string sample;
  PutTag(sample, 1, kDouble);
  Put(sample, std::bit_cast<std::uint64_t>(value));
  PutTag(sample, 2, kVarint);
  PutVarint(sample, static_cast<std::uint64_t>(at_us / 1000));
  PutBytes(series, 2, sample);
}

std::string SnappyLiterals(std::string_view bytes) {
  constexpr std::size_t kLongest = 65'536;
  constexpr std::uint8_t kTwoBytesOfLength = 61 << 2;
  std::string frame;
  PutVarint(frame, bytes.size());
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kLongest))) {
    const std::string_view literal = bytes.substr(0, kLongest);
    Put(frame, kTwoBytesOfLength);
    Put(frame, static_cast<std::uint16_t>(literal.size() - 1));
    frame += literal;
  }
  return frame;
}

}  // namespace

std::string RemoteWrite(const Schema& schema, const Table& ticks, const std::string& job,
                        const std::string& node) {
  std::string request;
  for (std::size_t index = 1; index < schema.columns.size(); ++index) {
    auto [metric, device] = schema.columns[index];
    std::ranges::replace(metric, '.', '_');
    std::string series;
    PutLabel(series, "__name__", metric);  // labels are in the order of their names
    if (!device.empty()) PutLabel(series, "device", device);
    PutLabel(series, "job", job);
    PutLabel(series, "node", node);
    for (std::size_t row = 0; row < ticks.rows; ++row) {
      PutSample(series, ticks.columns[index].At(row), ticks.columns[0].values[row]);
    }
    PutBytes(request, 1, series);
  }
  return SnappyLiterals(request);
}

namespace {

// A whole number is an integer field.
std::string Field(const std::string& metric, const Column& column, std::size_t row) {
  if (column.scale == 0) return Format("{}={}i", metric, column.values[row]);
  return Format("{}={}", metric, column.At(row));
}

}  // namespace

std::string InfluxLines(const Schema& schema, const Table& ticks, const std::string& job,
                        const std::string& node) {
  std::map<std::string, std::vector<std::size_t>> columns;  // by device
  for (std::size_t index = 1; index < schema.columns.size(); ++index) {
    columns[schema.columns[index].device].push_back(index);
  }
  std::string lines;
  for (std::size_t row = 0; row < ticks.rows; ++row) {
    for (const auto& [device, indices] : columns) {
      lines += device.empty() ? "samples" : Format("samples,device={}", device);
      lines += Format(",job={},node={} ", job, node);
      for (const std::size_t index : indices) {
        if (index != indices.front()) lines += ',';
        lines += Field(schema.columns[index].metric, ticks.columns[index], row);
      }
      lines += Format(" {}\n", ticks.columns[0].values[row] / 1000);
    }
  }
  return lines;
}

}  // namespace stepscope
