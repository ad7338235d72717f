#include <algorithm>
#include <bit>

#include "bench/peer_bodies.h"
#include "core/wire/bytes.h"

namespace stepscope {
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

}  // namespace stepscope
