#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/result.h"

namespace stepscope {

// Messages between a training process and the agent, on a unix SOCK_SEQPACKET socket, one a packet:
// u32 magic "SSMK", u16 version, u16 kind, then the fields in the order of the struct; integers
// little-endian, text as u16 length and bytes. Bytes behind the last field are skipped, so that
// fields can be added.

inline constexpr std::size_t kMaxMarkMessageBytes = 8192;
inline constexpr std::size_t kMaxMarkTextBytes = 256;
inline constexpr std::size_t kMaxMarkDevicesBytes = 1024;
inline constexpr std::size_t kMaxMarkNameBytes = 128;
inline constexpr std::uint16_t kMaxMarkNames = 512;  // ids of one process: 1 to 511
inline constexpr std::size_t kMaxMarkFacts = 32;
inline constexpr std::int32_t kMaxRank = 1'000'000;

// The first message of a process; the ring of its first thread is the passed descriptor.
struct MarkHello {
  // In the process's own PID namespace, which a container has apart from the agent's.
  std::uint32_t pid = 0;
  std::int32_t rank = 0;  // 0 to kMaxRank
  std::int32_t local_rank = 0;
  std::int32_t world_size = 1;
  std::string job;
  std::string framework;
  std::string python;     // "3.11.2"
  std::string library;    // version of the package
  std::string devices{};  // CUDA_VISIBLE_DEVICES; "" where it is not set, "-1" where it is empty
};

// The ring of one more thread, as the passed descriptor.
struct MarkRing {
  std::uint32_t thread = 0;
};

// Facts that are sent once: the loader's settings, the model, the batch size.
struct MarkFacts {
  std::vector<std::pair<std::string, std::string>> facts;
};

// Declares names of annotations. An id is declared once and never changes.
struct MarkNames {
  std::vector<std::pair<std::uint16_t, std::string>> names;
};

// From the agent to the process.
struct MarkCommand {
  std::uint32_t id = 0;
  std::string command;
  std::string argument;
};

// Sent in both directions; id 0 is the agent's answer to the hello.
struct MarkAnswer {
  std::uint32_t id = 0;
  std::uint16_t refused = 0;  // 0: accepted
  std::string detail;
};

struct MarkBye {};

// A window of operators that was recorded; the passed descriptor is the trace file.
struct MarkTrace {
  std::uint32_t window = 0;     // the service's number for it
  std::int64_t first_step = 0;  // 0 to 2^60 - 1
  std::uint32_t steps = 0;      // whole steps that were recorded
  // How long it took the training to begin, to end and to write it.
  std::uint32_t start_us = 0, stop_us = 0, save_us = 0;
  std::string note;  // why it is less than what was asked for; "" else
  // Who asked where it was not the service: "script", "start_profiling", "schedule"; window is 0.
  std::string by{};
  std::int64_t slower_us = -1;  // how much longer its steps took than others did; -1: not known
};

// A message of a kind that this version does not know; the reader skips it.
struct MarkUnknown {
  std::uint16_t kind = 0;
};

using MarkMessage = std::variant<MarkHello, MarkRing, MarkFacts, MarkNames, MarkCommand, MarkAnswer,
                                 MarkBye, MarkTrace, MarkUnknown>;

// Texts longer than their bound are truncated.
std::string EncodeMarkMessage(const MarkMessage& message);

// Invalid for a message of another version, cut short or with a field beyond its bound; the error
// names the field. Texts come out as valid UTF-8 without control characters.
Result<MarkMessage> DecodeMarkMessage(std::string_view bytes);

}  // namespace stepscope
