#include "core/http/answer_parser.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kLineBytes = 16 * 1024;  // for all lines of an answer together

bool IsToken(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return c > 0x20 && c < 0x7f &&
           std::string_view("\"(),/:;<=>?@[\\]{}").find(char(c)) == std::string_view::npos;
  });
}

bool HasControl(std::string_view text) {
  return std::ranges::any_of(text,
                             [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; });
}

// A whole number without a sign.
bool ReadNumber(std::string_view text, int base, std::uint64_t& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  return error == std::errc() && stop == end && !text.empty();
}

bool SaysClose(const HttpHeaders& headers) {
  return std::ranges::any_of(headers, [](const auto& header) {
    if (!SameName(header.first, "Connection")) return false;
    return std::ranges::any_of(Split(header.second, ','), [](std::string_view option) {
      return SameName(Trim(option), "close");
    });
  });
}

}  // namespace

bool SameName(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

AnswerParser::State AnswerParser::Feed(std::string_view bytes) {
  while (state_ == State::kMore && !bytes.empty()) {
    bytes.remove_prefix(part_ == Part::kBody ? TakeBody(bytes) : TakeLine(bytes));
  }
  if (!bytes.empty()) reusable_ = false;
  return state_;
}

AnswerParser::State AnswerParser::End() {
  if (state_ == State::kMore && part_ == Part::kBody && left_ == kToTheEnd) state_ = State::kDone;
  reusable_ = false;
  return state_;
}

std::size_t AnswerParser::TakeLine(std::string_view bytes) {
  const std::size_t end = std::min(bytes.find('\n'), bytes.size());
  const bool whole = end < bytes.size();
  const std::size_t taken = end + (whole ? 1 : 0);
  line_bytes_ += taken;
  if (line_bytes_ > kLineBytes) return state_ = State::kTooLarge, taken;
  line_.append(bytes.substr(0, end));
  if (!whole) return taken;
  if (line_.ends_with('\r')) line_.pop_back();
  ReadLine(line_);
  line_.clear();
  return taken;
}

std::size_t AnswerParser::TakeBody(std::string_view bytes) {
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), left_));
  const std::size_t room = most_.bytes - answer_.body.size();
  answer_.body.append(bytes, 0, std::min(count, room));
  if (count > room) {
    reusable_ = false;
    return state_ = most_.cut ? State::kCut : State::kTooLarge, count;
  }
  if (left_ != kToTheEnd) left_ -= count;
  if (left_ > 0) return count;
  if (chunked_) return part_ = Part::kChunkEnd, count;
  return state_ = State::kDone, count;
}

void AnswerParser::ReadLine(std::string_view line) {
  bool good = !HasControl(line);
  if (part_ == Part::kStatus) {
    good = good && ReadStatus(line);
  } else if (part_ == Part::kHeader) {
    good = good && (line.empty() ? EndHead() : ReadHeader(line));
  } else if (part_ == Part::kChunkSize) {
    good = good && ReadChunkSize(line);
  } else if (part_ == Part::kChunkEnd) {
    good = line.empty();
    part_ = Part::kChunkSize;
  } else if (line.empty()) {  // the end of the trailers, which nobody asked for
    state_ = State::kDone;
  }
  if (!good) state_ = State::kWrong;
}

bool AnswerParser::ReadStatus(std::string_view line) {
  if (!line.starts_with("HTTP/1.") || line.size() < 12 || line[8] != ' ') return false;
  if (line[7] != '0' && line[7] != '1') return false;
  if (line.size() > 12 && line[12] != ' ') return false;
  std::uint64_t status = 0;
  if (!ReadNumber(line.substr(9, 3), 10, status) || status < 100) return false;
  answer_.status = static_cast<int>(status);
  reusable_ = line[7] == '1';
  part_ = Part::kHeader;
  return true;
}

bool AnswerParser::ReadHeader(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == line.npos || !IsToken(line.substr(0, colon))) return false;
  answer_.headers.emplace_back(line.substr(0, colon), Trim(line.substr(colon + 1)));
  return true;
}

bool AnswerParser::EndHead() {
  constexpr int kSwitching = 101, kFinal = 200, kNoContent = 204, kNotModified = 304;
  if (answer_.status < kFinal) {  // an interim answer: the final one is still to come
    const bool understood = answer_.status != kSwitching;
    answer_ = {};
    part_ = Part::kStatus;
    return understood;
  }
  reusable_ = reusable_ && !SaysClose(answer_.headers);
  if (answer_.status == kNoContent || answer_.status == kNotModified) {
    return state_ = State::kDone, true;
  }
  return ReadLength();
}

bool AnswerParser::ReadLength() {
  std::uint64_t length = kToTheEnd;
  for (const auto& [name, value] : answer_.headers) {
    if (SameName(name, "Transfer-Encoding")) {
      if (chunked_ || !SameName(value, "chunked")) return false;
      chunked_ = true;
    } else if (SameName(name, "Content-Length")) {
      std::uint64_t number = 0;
      if (!ReadNumber(value, 10, number) || number == kToTheEnd) return false;
      if (length != kToTheEnd && length != number) return false;
      length = number;
    }
  }
  if (chunked_ && length != kToTheEnd) return false;  // a proxy may believe the other length
  if (chunked_) return part_ = Part::kChunkSize, true;
  reusable_ = reusable_ && length != kToTheEnd;
  BeginBody(length);
  return true;
}

bool AnswerParser::ReadChunkSize(std::string_view line) {
  constexpr std::size_t kMostDigits = 15;
  const std::string_view digits = Trim(line.substr(0, line.find(';')));
  std::uint64_t size = 0;
  if (digits.size() > kMostDigits || !ReadNumber(digits, 16, size)) return false;
  if (size == 0) return part_ = Part::kTrailer, true;
  BeginBody(size);
  return true;
}

void AnswerParser::BeginBody(std::uint64_t bytes) {
  part_ = Part::kBody;
  left_ = bytes;
  if (bytes == 0) state_ = State::kDone;
  const bool too_large = bytes != kToTheEnd && bytes > most_.bytes - answer_.body.size();
  if (too_large && !most_.cut) state_ = State::kTooLarge;
}

}  // namespace stepscope
