#include "core/wire/mark_message.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/wire/bytes.h"

namespace stepscope {
namespace {

constexpr std::uint32_t kMessageMagic = 0x4b4d5353;  // "SSMK"
constexpr std::uint16_t kMessageVersion = 1;
constexpr std::int64_t kMaxTraceStep = (std::int64_t{1} << 60) - 1;

enum Kind : std::uint16_t {
  kHello = 1,
  kFacts = 2,
  kName = 3,
  kCommand = 4,
  kAnswer = 5,
  kBye = 6,
  kRing = 7,
  kTrace = 8,
};

// The start of the character that holds byte `at`.
std::size_t CharacterStart(std::string_view text, std::size_t at) {
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
  return at;
}

void PutString(std::string& bytes, std::string_view text, std::size_t most = kMaxMarkTextBytes) {
  if (text.size() > most) text = text.substr(0, CharacterStart(text, most));
  Put(bytes, static_cast<std::uint16_t>(text.size()));
  bytes += text;
}

struct Encoder {
  std::string bytes;

  void Start(Kind kind) {
    Put(bytes, kMessageMagic);
    Put(bytes, kMessageVersion);
    Put(bytes, static_cast<std::uint16_t>(kind));
  }
  void operator()(const MarkHello& hello) {
    Start(kHello);
    Put(bytes, hello.pid);
    Put(bytes, hello.rank);
    Put(bytes, hello.local_rank);
    Put(bytes, hello.world_size);
    for (const auto& text : {hello.job, hello.framework, hello.python, hello.library}) {
      PutString(bytes, text);
    }
    // Version 0.1.0 of the package has no field behind this point.
    if (!hello.devices.empty()) PutString(bytes, hello.devices, kMaxMarkDevicesBytes);
  }
  void operator()(const MarkRing& ring) {
    Start(kRing);
    Put(bytes, ring.thread);
  }
  void operator()(const MarkFacts& facts) {
    Start(kFacts);
    Put(bytes, static_cast<std::uint16_t>(facts.facts.size()));
    for (const auto& [key, value] : facts.facts) {
      PutString(bytes, key);
      PutString(bytes, value);
    }
  }
  void operator()(const MarkNames& names) {
    Start(kName);
    Put(bytes, static_cast<std::uint16_t>(names.names.size()));
    for (const auto& [id, name] : names.names) {
      Put(bytes, id);
      PutString(bytes, name, kMaxMarkNameBytes);
    }
  }
  void operator()(const MarkCommand& command) {
    Start(kCommand);
    Put(bytes, command.id);
    PutString(bytes, command.command);
    PutString(bytes, command.argument);
  }
  void operator()(const MarkAnswer& answer) {
    Start(kAnswer);
    Put(bytes, answer.id);
    Put(bytes, answer.refused);
    PutString(bytes, answer.detail);
  }
  void operator()(const MarkBye&) { Start(kBye); }
  void operator()(const MarkTrace& trace) {
    Start(kTrace);
    Put(bytes, trace.window);
    Put(bytes, trace.first_step);
    for (const std::uint32_t number : {trace.steps, trace.start_us, trace.stop_us, trace.save_us}) {
      Put(bytes, number);
    }
    PutString(bytes, trace.note);
    PutString(bytes, trace.by);
    Put(bytes, trace.slower_us);
  }
  void operator()(const MarkUnknown& unknown) { Start(static_cast<Kind>(unknown.kind)); }
};

// A field beyond its bound makes the reader fail; `problem` keeps the name of the first one.
struct Decoder {
  ByteReader reader;
  std::string problem;

  template <typename T>
  T Number(std::string_view field, std::int64_t least, std::int64_t most) {
    const T value = reader.Take<T>();
    if (reader.ok() && (value < least || value > most)) Fail(field);
    return value;
  }
  std::string Text(std::string_view field, std::size_t most = kMaxMarkTextBytes) {
    const auto length = reader.Take<std::uint16_t>();
    if (length > most) Fail(field);
    // ValidUtf8 keeps line ends and tabs, which do not belong into a name.
    std::string text = ValidUtf8(reader.TakeBytes(length));
    std::ranges::replace_if(
        text, [](char c) { return c == '\n' || c == '\t'; }, ' ');
    // U+FFFD is longer than the byte that it replaces.
    if (text.size() > most) text.resize(CharacterStart(text, most));
    return text;
  }
  void Fail(std::string_view field) {
    if (problem.empty()) problem = Format("mark message: {} out of bounds", field);
    reader.Fail();
  }

  MarkHello Hello() {
    MarkHello hello;
    hello.pid = reader.Take<std::uint32_t>();
    hello.rank = Number<std::int32_t>("rank", 0, kMaxRank);
    hello.local_rank = Number<std::int32_t>("local rank", 0, kMaxRank);
    hello.world_size = Number<std::int32_t>("world size", 1, kMaxRank + 1);
    hello.job = Text("job");
    hello.framework = Text("framework");
    hello.python = Text("python version");
    hello.library = Text("library version");
    if (reader.left() > 0) hello.devices = Text("devices", kMaxMarkDevicesBytes);
    return hello;
  }
  MarkFacts Facts() {
    MarkFacts facts;
    const auto count = Number<std::uint16_t>("count of facts", 0, kMaxMarkFacts);
    for (int i = 0; i < count && reader.ok(); ++i) {
      std::string key = Text("fact");
      facts.facts.emplace_back(std::move(key), Text("fact"));
    }
    return facts;
  }
  MarkNames Names() {
    MarkNames names;
    const auto count = Number<std::uint16_t>("count of names", 0, kMaxMarkNames);
    for (int i = 0; i < count && reader.ok(); ++i) {
      const auto id = Number<std::uint16_t>("id of a name", 1, kMaxMarkNames - 1);
      names.names.emplace_back(id, Text("name", kMaxMarkNameBytes));
    }
    return names;
  }
  MarkCommand Command() {
    MarkCommand command;
    command.id = reader.Take<std::uint32_t>();
    command.command = Text("command");
    command.argument = Text("argument");
    return command;
  }
  MarkAnswer Answer() {
    MarkAnswer answer;
    answer.id = reader.Take<std::uint32_t>();
    answer.refused = reader.Take<std::uint16_t>();
    answer.detail = Text("detail");
    return answer;
  }
  MarkTrace Trace() {
    MarkTrace trace;
    trace.window = reader.Take<std::uint32_t>();
    trace.first_step = Number<std::int64_t>("first step", 0, kMaxTraceStep);
    trace.steps = reader.Take<std::uint32_t>();
    trace.start_us = reader.Take<std::uint32_t>();
    trace.stop_us = reader.Take<std::uint32_t>();
    trace.save_us = reader.Take<std::uint32_t>();
    trace.note = Text("note");
    // Packages of before have no field behind this point.
    if (reader.left() == 0) return trace;
    trace.by = Text("by");
    trace.slower_us = reader.Take<std::int64_t>();
    return trace;
  }
  MarkMessage Body(std::uint16_t kind) {
    switch (kind) {
      case kHello:
        return Hello();
      case kRing:
        return MarkRing{reader.Take<std::uint32_t>()};
      case kFacts:
        return Facts();
      case kName:
        return Names();
      case kCommand:
        return Command();
      case kAnswer:
        return Answer();
      case kBye:
        return MarkBye{};
      case kTrace:
        return Trace();
      default:
        return MarkUnknown{kind};
    }
  }
};

}  // namespace

std::string EncodeMarkMessage(const MarkMessage& message) {
  Encoder encoder;
  std::visit(encoder, message);
  return std::move(encoder.bytes);
}

Result<MarkMessage> DecodeMarkMessage(std::string_view bytes) {
  if (bytes.size() > kMaxMarkMessageBytes) return Invalid("mark message: too long");
  Decoder decoder{ByteReader(bytes), {}};
  const auto magic = decoder.reader.Take<std::uint32_t>();
  const auto version = decoder.reader.Take<std::uint16_t>();
  const auto kind = decoder.reader.Take<std::uint16_t>();
  if (!decoder.reader.ok() || magic != kMessageMagic) return Invalid("mark message: wrong magic");
  if (version != kMessageVersion) {
    return Invalid(
        Format("mark message: version {}, this agent speaks version {}", version, kMessageVersion));
  }
  MarkMessage message = decoder.Body(kind);
  if (decoder.reader.ok()) return message;
  return Invalid(decoder.problem.empty() ? "mark message: cut short" : decoder.problem);
}

}  // namespace stepscope
