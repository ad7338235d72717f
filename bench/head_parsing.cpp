// The cost of reading the head of a request: our reader, which checks and decides everything,
// against http-parser, once with the headers put into the same kind of map and once with nothing
// done at all. The contenders take turns; the median CPU time of the rounds is printed.

#include <http_parser.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <vector>

#include "core/base/cpu_time.h"
#include "core/base/text.h"
#include "server/edge/http/head.h"

namespace stepscope {
namespace {

constexpr int kRounds = 31, kHeadsPerRound = 5'000;

std::string PushHead() {
  return "POST /api/v1/jobs/mlp-7/frames HTTP/1.1\r\nHost: stepscope.example.org:8080\r\n"
         "Authorization: Bearer st_agent_0123abcd_Ab3Ab3Ab3Ab3Ab3Ab3Ab3Ab3Ab3Ab3xy01QeZc\r\n"
         "Content-Type: application/vnd.stepscope.frames\r\nContent-Length: 18234\r\n"
         "Accept: application/json\r\nUser-Agent: stepscope-agent/0.1.0\r\n\r\n";
}

std::string BrowserHead() {
  return "GET /api/v1/jobs/mlp-7/chart?from=1795205614000000&to=1795205674000000&metric=cpu "
         "HTTP/1.1\r\nHost: stepscope.example.org:8080\r\nConnection: keep-alive\r\n"
         "sec-ch-ua: \"Chromium\";v=\"130\", \"Not?A_Brand\";v=\"99\"\r\nsec-ch-ua-mobile: ?0\r\n"
         "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
         "Chrome/130.0.0.0 Safari/537.36\r\nAccept: application/json\r\n"
         "sec-ch-ua-platform: \"Linux\"\r\nSec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\n"
         "Sec-Fetch-Dest: empty\r\nReferer: https://stepscope.example.org:8080/jobs/mlp-7\r\n"
         "Accept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: en-GB,en;q=0.9\r\n"
         "Cookie: __Host-st=Ab3Ab3Ab3Ab3Ab3Ab3Ab3Ab3Ab3Ab3xy\r\n\r\n";
}

std::string LargestHead() {
  std::string head = "GET / HTTP/1.1\r\nHost: stepscope.example.org:8080\r\n";
  for (int line = 0; line < 63; ++line) {
    head += Format("X-Header-{:02}: {}\r\n", line, std::string(240, 'v'));
  }
  return head + "\r\n";
}

bool ReadByUs(const std::string& bytes) {
  HeadReader reader;
  std::size_t consumed = 0;
  return reader.Feed(bytes, consumed) == Progress::kDone;
}

struct Reading {
  std::string target, name, value;
  std::map<std::string, std::string> headers;
  bool in_value = false, complete = false;

  void EndHeader() {
    if (name.empty()) return;
    std::ranges::transform(name, name.begin(), [](char byte) {
      return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + 0x20) : byte;
    });
    auto [header, added] = headers.try_emplace(std::move(name), value);
    if (!added) header->second.append(", ").append(value);
    name.clear();
    value.clear();
    in_value = false;
  }
};

Reading& Of(http_parser* parser) {
  return *static_cast<Reading*>(parser->data);
}

http_parser_settings Mapping() {
  http_parser_settings settings;
  http_parser_settings_init(&settings);
  settings.on_url = [](http_parser* parser, const char* text, std::size_t size) {
    Of(parser).target.append(text, size);
    return 0;
  };
  settings.on_header_field = [](http_parser* parser, const char* text, std::size_t size) {
    if (Of(parser).in_value) Of(parser).EndHeader();
    Of(parser).name.append(text, size);
    return 0;
  };
  settings.on_header_value = [](http_parser* parser, const char* text, std::size_t size) {
    Of(parser).in_value = true;
    Of(parser).value.append(text, size);
    return 0;
  };
  settings.on_headers_complete = [](http_parser* parser) {
    Of(parser).EndHeader();
    Of(parser).complete = true;
    return 0;
  };
  return settings;
}

http_parser_settings Nothing() {
  http_parser_settings settings;
  http_parser_settings_init(&settings);
  settings.on_headers_complete = [](http_parser* parser) {
    Of(parser).complete = true;
    return 0;
  };
  return settings;
}

bool ReadByPeer(const std::string& bytes, const http_parser_settings& settings) {
  http_parser parser;
  http_parser_init(&parser, HTTP_REQUEST);
  Reading reading;
  parser.data = &reading;
  http_parser_execute(&parser, &settings, bytes.data(), bytes.size());
  return reading.complete;
}

struct Contender {
  const char* name;
  std::function<bool(const std::string&)> read;
  std::vector<double> rounds_ns;
};

// The CPU time of this thread, without what else runs on the machine.
double RoundNs(const Contender& contender, const std::string& bytes) {
  const Duration began = ThreadCpuTime();
  int read = 0;
  for (int head = 0; head < kHeadsPerRound; ++head) read += contender.read(bytes) ? 1 : 0;
  const double took_ns = static_cast<double>((ThreadCpuTime() - began).count());
  if (read != kHeadsPerRound) std::fprintf(stderr, "%s refused the head\n", contender.name);
  return took_ns / kHeadsPerRound;
}

double Median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + values.size() / 2);
  return values[values.size() / 2];
}

void Measure(const char* what, const std::string& bytes) {
  Contender contenders[] = {
      {"ours, checked and decided", ReadByUs, {}},
      {"http-parser, into a map",
       [all = Mapping()](auto& text) { return ReadByPeer(text, all); },
       {}},
      {"http-parser, nothing kept",
       [all = Nothing()](auto& text) { return ReadByPeer(text, all); },
       {}},
  };
  for (int round = 0; round < kRounds; ++round) {
    for (Contender& contender : contenders)
      contender.rounds_ns.push_back(RoundNs(contender, bytes));
  }
  const double ours_ns = Median(contenders[0].rounds_ns);
  std::printf("%s, %zu bytes\n", what, bytes.size());
  for (const Contender& contender : contenders) {
    const double median_ns = Median(contender.rounds_ns);
    std::printf("  %-28s %8.0f ns  %5.2f of ours  (%.0f to %.0f)\n", contender.name, median_ns,
                median_ns / ours_ns, std::ranges::min(contender.rounds_ns),
                std::ranges::max(contender.rounds_ns));
  }
}

}  // namespace
}  // namespace stepscope

int main() {
  stepscope::Measure("a push of an agent", stepscope::PushHead());
  stepscope::Measure("a call of a browser", stepscope::BrowserHead());
  stepscope::Measure("64 headers", stepscope::LargestHead());
}
